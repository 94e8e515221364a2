"""What a twin uses of its machine: folders, files, ports and processes."""
