"""What a twin uses of its machine: folders, files, ports, processes, and the locks of stacks."""
