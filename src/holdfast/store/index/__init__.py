"""What a search uses: passages, vectors, and which sessions changed since each stage looked."""
