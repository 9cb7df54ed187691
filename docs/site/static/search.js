// The search reads the found pages again to show an excerpt of each. A browser does not allow that
// for pages opened from a folder, so there only the titles are shown.
DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = location.protocol !== "file:";
