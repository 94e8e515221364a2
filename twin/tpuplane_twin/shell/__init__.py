"""What a shell gets from a twin: variables, executables and charts."""
