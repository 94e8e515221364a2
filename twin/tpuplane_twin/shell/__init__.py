"""A twin's shell: variables, executables and charts."""
