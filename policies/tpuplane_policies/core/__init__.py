"""The building blocks of rules: three-valued truths, values that may be unknown, resources and exemptions."""
