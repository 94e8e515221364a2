"""The base of every model of the spec: fields, mistakes, rules, names, and the reading of files."""
