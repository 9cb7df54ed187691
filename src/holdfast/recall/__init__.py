"""Finding what is remembered. Everything here is given a Reader and cannot write."""
