// Draws the pictures in the colours of the page: furo's switch or, where it stands on "auto", the system's choice.
(function () {
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var pictures = Array.from(document.querySelectorAll("pre.mermaid"));
  pictures.forEach(function (picture) { picture.dataset.text = picture.textContent; });

  function isDark() {
    var chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && dark.matches);
  }

  function draw() {
    mermaid.initialize({ startOnLoad: false, theme: isDark() ? "dark" : "default" });
    pictures.forEach(function (picture) {
      picture.removeAttribute("data-processed");
      picture.textContent = picture.dataset.text;
    });
    mermaid.run({ nodes: pictures });
  }

  document.addEventListener("DOMContentLoaded", function () {
    draw();
    new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
    dark.addEventListener("change", draw);
  });
})();
