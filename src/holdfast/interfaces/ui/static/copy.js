// Buttons that copy the text of an element. They are shown only where scripts run.
for (const button of document.querySelectorAll("[data-copy-text]")) {
  const source = document.getElementById(button.dataset.copyText);
  if (!source || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const name = button.textContent;
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = name), 1500);
  });
}
