// Charts as SVG that stands on its own, for light and dark pages.
#pragma once

#include <string>
#include <vector>

namespace crowdfold::paper {

struct Point {
  double x = 0;
  double y = 0;
};

struct Axis {
  std::string label;
  double low = 0;
  double high = 1;
};

// The colour of the i-th series.
const char* color_of(std::size_t i);
inline constexpr const char* kQuiet = "#888888";

struct LineStyle {
  std::string color = kQuiet;
  double width = 1.5;
  double opacity = 1;
  std::string name = {};  // in the legend, unless empty
};

class Chart {
 public:
  // `room`: at the right, for labels of dots.
  Chart(std::string title, Axis x, Axis y, int width = 760, int height = 400, double room = 16);

  void line(const std::vector<Point>& points, const LineStyle& style);
  // Filled, or a ring; a label beside it, unless empty.
  void dot(Point at, const std::string& color, bool filled, const std::string& label = {});

  std::string svg() const;

 private:
  struct Label {
    double x;
    double y;
    std::string text;
    std::string color;
  };
  double place_x(double x) const;
  double place_y(double y) const;
  std::string axes() const;
  std::string legend() const;
  std::string labels() const;

  std::string title_;
  Axis x_;
  Axis y_;
  int width_;
  int height_;
  double room_;
  std::string marks_;
  std::vector<LineStyle> named_;
  std::vector<Label> labels_;
};

// values[row][column], each cell with its number. Dark is high.
std::string heat_map(const std::string& title, const std::string& row_label,
                     const std::vector<std::string>& rows, const std::string& column_label,
                     const std::vector<std::string>& columns,
                     const std::vector<std::vector<double>>& values);

}  // namespace crowdfold::paper
