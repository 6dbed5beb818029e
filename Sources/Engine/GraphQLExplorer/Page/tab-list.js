// Connects tab lists with mouse and keyboard.
import { elementByID } from "./dom.js";

const arrowSteps = { ArrowRight: 1, ArrowLeft: -1 };

/** Returns the index of the tab that an arrow key moves to, or null for any other key. */
function tabIndexAfterKey(key, index, count) {
  const step = arrowSteps[key];
  return step ? (index + step + count) % count : null;
}

/**
 * Connects tabs with the elements that their `aria-controls` attributes name.
 *
 * A click or an arrow key selects a tab, shows its element, and hides those of the other tabs.
 */
export function connectTabs(tabs, onSelect) {
  tabs.forEach((tab, index) => {
    tab.onclick = () => selectTab(tab, tabs, onSelect);
    tab.onkeydown = ({ key }) => {
      const nextIndex = tabIndexAfterKey(key, index, tabs.length);
      if (nextIndex == null) return;
      selectTab(tabs[nextIndex], tabs, onSelect);
      tabs[nextIndex].focus();
    };
  });
}

function selectTab(selected, tabs, onSelect) {
  for (const tab of tabs) {
    const isSelected = tab === selected;
    tab.setAttribute("aria-selected", String(isSelected));
    tab.tabIndex = isSelected ? 0 : -1;
    elementByID(tab.getAttribute("aria-controls")).hidden = !isSelected;
  }
  onSelect();
}
