"use strict";
/* Before anything is shown: light or dark, as chosen on this page, else as the system says. */
(() => {
  const chosen = localStorage.getItem("pairgram:theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
})();
