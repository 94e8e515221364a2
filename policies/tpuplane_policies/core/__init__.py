"""What every rule is written with: three-valued truths, values that may be unknown, resources, exemptions."""
