"""What a sheet evaluates in its page: JavaScript, in JupyterLab's own words."""

from __future__ import annotations

READY = """async () => {
  const { restored, shell } = window.jupyterapp;
  await restored;
  const { context, sessionContext } = shell.currentWidget;
  await context.ready;
  await sessionContext.ready;
  await sessionContext.session.kernel.info;
}"""

ONE_CELL = """source => {
  const { commands, shell } = window.jupyterapp;
  const { content } = shell.currentWidget;
  const { sharedModel } = content.model;
  sharedModel.deleteCellRange(0, sharedModel.cells.length);
  sharedModel.insertCell(0, { cell_type: 'code', source, metadata: {}, outputs: [] });
  content.activeCellIndex = 0;
  commands.execute('notebook:run-cell');
}"""

CELL_BELOW = """source => {
  const { commands, shell } = window.jupyterapp;
  const { content } = shell.currentWidget;
  const { sharedModel } = content.model;
  const last = sharedModel.cells.length;
  sharedModel.insertCell(last, { cell_type: 'code', source, metadata: {}, outputs: [] });
  content.activeCellIndex = last;
  commands.execute('notebook:run-cell');
}"""

FOCUSED = """() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  return { name: element.textContent || element.placeholder || '',
           outline: `${outlineStyle} ${outlineWidth}` };
}"""

KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
STARTED = "cell => cell.executionState === 'running' || cell.execution_count !== null"
CELLS = "window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells"
ALL_OVER = f"{CELLS}.every(cell => cell.executionState !== 'running')"

# Seconds from the click, as the page hears of it, to the line that the answered cell displays.
TIMED = """() => { window.__answered = new Promise(resolve => {
  document.addEventListener('click', () => {
    const clicked = performance.now();
    const looker = new MutationObserver(() => {
      const lines = [...document.querySelectorAll('.jp-OutputArea-output pre')];
      if (lines.some(line => line.textContent.includes('in the notebook'))) {
        looker.disconnect();
        resolve((performance.now() - clicked) / 1000);
      }
    });
    looker.observe(document.body, { childList: true, subtree: true, characterData: true });
  }, { capture: true, once: true });
}); }"""
