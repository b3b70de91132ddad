// What is wider than its place scrolls in it: then it can be reached, and scrolled, by keyboard.
(() => {
  const NAMES = {
    ".lesson-output": "output",
    ".katex-display": "formula",
    ".md-typeset__scrollwrap": "table",
  };
  const BOXES = Object.keys(NAMES).join();

  function mark(box) {
    if (box.scrollWidth > box.clientWidth) {
      const name = NAMES[Object.keys(NAMES).find((kind) => box.matches(kind))];
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", `${name}, scrolls sideways`);
    } else {
      for (const attribute of ["tabindex", "role", "aria-label"]) box.removeAttribute(attribute);
    }
  }

  const boxes = () => document.querySelectorAll(BOXES);
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));
  const watch = () => boxes().forEach((box) => sizes.observe(box));
  // Pages come and go without a reload.
  new MutationObserver(watch).observe(document.documentElement, { childList: true, subtree: true });
  document.fonts.ready.then(() => boxes().forEach(mark));
  watch();
})();
