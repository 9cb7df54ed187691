"""Looking after a memory: state, health and cost, backup and export, settings of a bank,
evaluation, and shell completion. What a command measures or changes is in `app`; these modules
print it."""
