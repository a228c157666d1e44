#include "chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "page.h"
#include "terminal.h"

namespace crowdfold::paper {
namespace {

constexpr double kLeft = 58;
constexpr double kTop = 46;
constexpr double kBottom = 42;
constexpr double kLetter = 6.4;  // mean width, to lay out the legend
constexpr double kLineHeight = 13;

constexpr const char* kStyle =
    "<style>text{font:12px system-ui,sans-serif;fill:#333}.g{stroke:#8884;stroke-width:1}"
    ".t{font-weight:600}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>";

std::string head(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\"><title>{2}</title>{3}",
      width, height, escaped(title), kStyle);
}

std::string text_at(double x, double y, const std::string& text, const std::string& anchor = "start",
                    const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor,
                     more.empty() ? "" : " " + more, escaped(text));
}

// Steps of 1, 2 or 5 times a power of ten, about five of them.
std::vector<double> ticks(const Axis& axis) {
  const double rough = (axis.high - axis.low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (step < rough * 0.999) step = power * factor;
  }
  std::vector<double> at;
  for (double i = std::ceil(axis.low / step - 1e-9); i * step <= axis.high + step * 1e-9; ++i)
    at.push_back(i * step);
  return at;
}

std::string tick_text(double value) { return fmt::format("{:g}", std::round(value * 1e6) / 1e6 + 0.0); }

}  // namespace

const char* color_of(std::size_t i) {
  static constexpr std::array kColors = {"#7f7f7f", "#1f77b4", "#17a2b8", "#9467bd", "#8c564b",
                                         "#e377c2", "#5b8c2a", "#bc8f00", "#d62728", "#ff7f0e"};
  return kColors[i % kColors.size()];
}

Chart::Chart(std::string title, Axis x, Axis y, int width, int height, double room)
    : title_(std::move(title)),
      x_(std::move(x)),
      y_(std::move(y)),
      width_(width),
      height_(height),
      room_(room) {}

double Chart::place_x(double x) const {
  return kLeft + (x - x_.low) / (x_.high - x_.low) * (width_ - kLeft - room_);
}

double Chart::place_y(double y) const {
  return height_ - kBottom - (y - y_.low) / (y_.high - y_.low) * (height_ - kTop - kBottom);
}

void Chart::line(const std::vector<Point>& points, const LineStyle& style) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", place_x(point.x),
                        place_y(std::clamp(point.y, y_.low, y_.high)));
  }
  marks_ += fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\" stroke-opacity=\"{:g}\"/>\n",
      path, style.color, style.width, style.opacity);
  if (!style.name.empty()) named_.push_back(style);
}

void Chart::dot(Point at, const std::string& color, bool filled, const std::string& label) {
  const double x = place_x(at.x);
  const double y = place_y(at.y);
  marks_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"{}\" stroke=\"{}\"/>\n", x,
                        y, filled ? color : "none", color);
  if (!label.empty()) labels_.push_back({x + 8, y + 4, label, color});
}

std::string Chart::axes() const {
  std::string text;
  const double bottom = height_ - kBottom;
  const double right = width_ - room_;
  for (const double value : ticks(x_)) {
    const double x = place_x(value);
    text += fmt::format("<line class=\"g\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x,
                        kTop, bottom);
    text += text_at(x, bottom + 15, tick_text(value), "middle");
  }
  for (const double value : ticks(y_)) {
    const double y = place_y(value);
    text += fmt::format("<line class=\"g\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>", kLeft,
                        right, y);
    text += text_at(kLeft - 6, y + 4, tick_text(value), "end");
  }
  text += text_at((kLeft + right) / 2, height_ - 8, x_.label, "middle");
  const double middle = (kTop + bottom) / 2;
  text += text_at(14, middle, y_.label, "middle",
                  fmt::format("transform=\"rotate(-90 14 {:.1f})\"", middle));
  return text + "\n";
}

std::string Chart::legend() const {
  std::string text;
  double x = kLeft;
  for (const LineStyle& style : named_) {
    text += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"34\" y2=\"34\" stroke=\"{}\" stroke-width=\"3\"/>", x,
        x + 16, style.color);
    text += text_at(x + 20, 38, style.name);
    x += 34 + kLetter * static_cast<double>(style.name.size());
  }
  return text;
}

// From top to bottom, pushed down where one would lie on another.
std::string Chart::labels() const {
  std::vector<Label> placed = labels_;
  std::sort(placed.begin(), placed.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  std::string text;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    Label& label = placed[i];
    for (std::size_t j = 0; j < i; ++j) {
      const double width =
          kLetter * static_cast<double>(std::max(label.text.size(), placed[j].text.size()));
      if (std::abs(label.x - placed[j].x) < width)
        label.y = std::max(label.y, placed[j].y + kLineHeight);
    }
    text +=
        text_at(label.x, label.y, label.text, "start", fmt::format("style=\"fill:{}\"", label.color));
  }
  return text;
}

std::string Chart::svg() const {
  return head(width_, height_, title_) + text_at(kLeft, 18, title_, "start", "class=\"t\"") + legend() +
         axes() + marks_ + labels() + "</svg>\n";
}

std::string heat_map(const std::string& title, const std::string& row_label,
                     const std::vector<std::string>& rows, const std::string& column_label,
                     const std::vector<std::string>& columns,
                     const std::vector<std::vector<double>>& values) {
  constexpr double kCellWidth = 64;
  constexpr double kCellHeight = 34;
  double low = values[0][0];
  double high = values[0][0];
  for (const auto& row : values) {
    for (const double value : row) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const double width = kLeft + kCellWidth * static_cast<double>(columns.size()) + 10;
  const double height = kTop + kCellHeight * static_cast<double>(rows.size()) + kBottom;
  std::string text = head(width, height, title) + text_at(kLeft, 18, title, "start", "class=\"t\"");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = kTop + kCellHeight * static_cast<double>(r);
    text += text_at(kLeft - 8, y + 21, rows[r], "end");
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double x = kLeft + kCellWidth * static_cast<double>(c);
      const double share = high > low ? (values[r][c] - low) / (high - low) : 1;
      text += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"hsl(210 60% "
          "{:.0f}%)\"/>",
          x + 1, y + 1, kCellWidth - 2, kCellHeight - 2, 92 - 62 * share);
      text += text_at(x + kCellWidth / 2, y + 21, cli::decimal(values[r][c]), "middle",
                      share > 0.5 ? "style=\"fill:#fff\"" : "style=\"fill:#222\"");
    }
  }
  for (std::size_t c = 0; c < columns.size(); ++c)
    text += text_at(kLeft + kCellWidth * (static_cast<double>(c) + 0.5), height - kBottom + 16,
                    columns[c], "middle");
  text += text_at((kLeft + width) / 2, height - 8, column_label, "middle");
  const double middle = (kTop + height - kBottom) / 2;
  text += text_at(16, middle, row_label, "middle",
                  fmt::format("transform=\"rotate(-90 16 {:.1f})\"", middle));
  return text + "</svg>\n";
}

}  // namespace crowdfold::paper
