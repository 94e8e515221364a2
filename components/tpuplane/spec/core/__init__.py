"""What every model of the spec is built of: fields, mistakes, rules, names, and the reading of files."""
