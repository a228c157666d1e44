// Colours. Those of charts are chosen here, not in the style sheet, so that an exported SVG looks like the page.
import type { Tone } from "./document.ts";

export interface Theme {
  readonly background: string;
  readonly text: string;
  readonly faint: string; // axes, rules
  readonly tones: Readonly<Record<Tone, string>>;
  readonly series: readonly string[]; // told apart by people who do not see all colours (after Okabe and Ito)
  readonly ramp: readonly [string, string, string]; // little to much
}

const LIGHT: Theme = {
  background: "#ffffff",
  text: "#1d2430",
  faint: "#8a93a1",
  tones: {
    plain: "#5b6675",
    accent: "#0b62a4",
    good: "#0b62a4",
    warning: "#c77700",
    bad: "#b8322a",
    muted: "#a9b2bd",
  },
  series: ["#0b62a4", "#c77700", "#00856a", "#b34a85", "#5a9fd4", "#8a6d00", "#b8322a", "#5b6675"],
  ramp: ["#e6edf4", "#8fbbdd", "#0b4a80"],
};

const DARK: Theme = {
  background: "#14181f",
  text: "#e6eaf0",
  faint: "#79838f",
  tones: {
    plain: "#a3adba",
    accent: "#62b0ee",
    good: "#62b0ee",
    warning: "#f0b24a",
    bad: "#f0766c",
    muted: "#566070",
  },
  series: ["#62b0ee", "#f0b24a", "#3dc2a0", "#e08fbd", "#9ccbf2", "#d8c25a", "#f0766c", "#a3adba"],
  ramp: ["#222b37", "#2f6ea3", "#a9d6fb"],
};

export type ThemeName = "light" | "dark";
const KEY = "crowdfold-theme";

// What the reader chose, else what the system prefers. Pages opened from a file may have no storage.
export function themeName(): ThemeName {
  try {
    const chosen = localStorage.getItem(KEY);
    if (chosen === "light" || chosen === "dark") return chosen;
  } catch {
    // no storage: the system decides
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function chooseTheme(name: ThemeName): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // it holds until the page is closed
  }
  applyTheme(name);
}

export function applyTheme(name: ThemeName): void {
  document.documentElement.dataset.theme = name;
}

export function currentTheme(): Theme {
  return document.documentElement.dataset.theme === "dark" ? DARK : LIGHT;
}
