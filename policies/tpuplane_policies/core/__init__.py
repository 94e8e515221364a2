"""What rules are written with: three-valued truths, values that may be unknown, resources and exemptions."""
