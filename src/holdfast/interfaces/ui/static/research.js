// Shows the steps of an investigation while it goes on; what it comes to is a page of the server's.
const steps = document.getElementById("steps");
const again = () => location.reload();

if (steps) {
  const events = new EventSource(`/api/v1/research/${steps.dataset.session}/events`);
  let lines = [];
  events.addEventListener("step", (event) => {
    const line = JSON.parse(event.data);
    if (line.stage === "asked") lines = [];
    else if (line.text) lines.push(line.text);
    steps.replaceChildren(
      ...lines.map((text, at) => {
        const item = document.createElement("li");
        item.textContent = text;
        if (at === lines.length - 1) item.className = "now";
        return item;
      }),
    );
  });
  events.addEventListener("done", () => {
    events.close();
    again();
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(again, 700);
  });
}
