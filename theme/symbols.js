// Hover or tap a symbol, or press its button: all its appearances light up, and a line says what
// it is. A pressed button keeps them lit until Escape, a press on it, or a click beside symbols.
(() => {
  if (window.symbolsLightUp) return; // instant navigation may run a script again
  window.symbolsLightUp = true;

  const buttons = () => [...document.querySelectorAll(".symbols button")];
  const pressed = () => buttons().find((button) => button.ariaPressed === "true");
  const buttonOf = (event) => {
    const name = event.target.closest?.("[data-symbol]")?.dataset.symbol;
    return buttons().find((button) => button.value === name);
  };

  const light = (button) => {
    const status = document.querySelector(".symbols [role=status]");
    if (!status || status.dataset.shown === (button?.value ?? "")) return;
    status.dataset.shown = button?.value ?? "";
    for (const mark of document.querySelectorAll("[data-symbol]"))
      mark.classList.toggle("lit", mark.dataset.symbol === button?.value);
    status.replaceChildren();
    if (!button) return;
    const { code, shape, meaning } = button.dataset;
    const parts = [["code", code], ["span", shape && `[${shape}]`], ["span", meaning]];
    status.append(button.firstElementChild.cloneNode(true));
    for (const [tag, text] of parts.filter(([, text]) => text))
      status.append(" ", Object.assign(document.createElement(tag), { textContent: text }));
  };

  const press = (button) => {
    for (const other of buttons()) other.ariaPressed = String(other === button);
    light(button);
  };

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") light(buttonOf(event) ?? pressed());
  });
  document.addEventListener("click", (event) => {
    const button = buttonOf(event);
    press(button === pressed() ? undefined : button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") press(undefined);
  });
})();
