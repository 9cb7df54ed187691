"""What people teach a memory."""
