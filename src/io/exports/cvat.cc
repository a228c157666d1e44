// CVAT for images, XML: tags of images. The worker is the assignee of the job, so that a data set is a
// file per job; replicas of a consensus task are jobs of their own.
#include <expat.h>
#include <fmt/format.h>

#include <array>
#include <exception>
#include <memory>

#include "crowdfold/error.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

class CvatReader {
 public:
  CvatReader(ExportInput& input, ImportedRows& rows)
      : input_(input), rows_(rows), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    XML_SetCharacterDataHandler(parser_.get(), on_text);
  }

  void run() {
    const std::unique_ptr<ByteSource> source = std::move(input_.source);
    std::vector<char> buffer(1 << 16);
    for (bool ended = false; !ended;) {
      input_.context.throw_if_cancelled();
      input_.context.report("reading", source->file_position(), source->file_size());
      const std::size_t count = source->read(buffer.data(), buffer.size());
      ended = count == 0;
      const bool parsed = XML_Parse(parser_.get(), buffer.data(), static_cast<int>(count),
                                    ended ? 1 : 0) != XML_STATUS_ERROR;
      if (thrown_) std::rethrow_exception(thrown_);
      const XML_Error error = XML_GetErrorCode(parser_.get());
      if (!parsed && error == XML_ERROR_NO_MEMORY) throw std::bad_alloc();
      if (!parsed) fail(XML_ErrorString(error));
    }
    if (is_task_)
      rows_.note(
          "an export of a whole task names one assignee for all its jobs: export job by job if "
          "several people worked on it");
  }

 private:
  struct Tag {
    std::string label;
    bool automatic = false;
  };

  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::data,
                Location{display_name(input_.path), XML_GetCurrentLineNumber(parser_.get()), 0},
                fmt::format("not XML of CVAT: {}", what));
  }

  static std::string attribute(const XML_Char** attributes, std::string_view name) {
    for (; attributes[0] != nullptr; attributes += 2) {
      if (attributes[0] == name) return attributes[1];
    }
    return "";
  }

  // expat is C: no exception may pass it.
  template <class Body>
  static void guarded(void* data, const Body& body) {
    auto& reader = *static_cast<CvatReader*>(data);
    if (reader.thrown_) return;
    try {
      body(reader);
    } catch (...) {
      reader.thrown_ = std::current_exception();
      XML_StopParser(reader.parser_.get(), XML_FALSE);
    }
  }

  static void on_start(void* data, const XML_Char* name, const XML_Char** attributes) {
    guarded(data, [&](CvatReader& reader) { reader.start(name, attributes); });
  }
  static void on_end(void* data, const XML_Char* name) {
    guarded(data, [&](CvatReader& reader) { reader.end(name); });
  }
  static void on_text(void* data, const XML_Char* text, int size) {
    guarded(data,
            [&](CvatReader& reader) { reader.text_.append(text, static_cast<std::size_t>(size)); });
  }

  void start(std::string_view name, const XML_Char** attributes) {
    path_.append("/").append(name);
    text_.clear();
    is_task_ = is_task_ || path_ == "/annotations/meta/task";
    if (path_ == "/annotations/image") {
      image_ = attribute(attributes, "name");
      tags_.clear();
    } else if (path_ == "/annotations/image/tag") {
      tags_.push_back({attribute(attributes, "label"), attribute(attributes, "source") == "auto"});
    } else if (path_ == "/annotations/image/tag/attribute") {
      attribute_ = attribute(attributes, "name");
    } else if (path_.starts_with("/annotations/image/") &&
               path_.find('/', std::string_view("/annotations/image/").size()) == std::string::npos) {
      rows_.leave_out("shape in an image");
    } else if (path_ == "/annotations/track") {
      rows_.leave_out("track in a video");
    }
  }

  void end(std::string_view name) {
    if (path_ == "/annotations/meta/job/assignee/username" ||
        path_ == "/annotations/meta/task/assignee/username")
      worker_ = text_;
    if (path_ == "/annotations/image/tag/attribute" && !tags_.back().automatic) {
      rows_.only_if_asked(attribute_);
      rows_.answer({attribute_, image_, worker_, 0}, {&text_, 1});
    }
    if (path_ == "/annotations/image") say_tags();
    path_.resize(path_.size() - name.size() - 1);
    text_.clear();
  }

  void say_tags() {
    std::vector<std::string> by_hand;
    std::vector<std::string> automatic;
    for (const Tag& tag : tags_) (tag.automatic ? automatic : by_hand).push_back(tag.label);
    if (!automatic.empty()) rows_.prediction("tag", image_, "auto", automatic);
    if (!by_hand.empty() || automatic.empty()) rows_.answer({"tag", image_, worker_, 0}, by_hand);
  }

  ExportInput& input_;
  ImportedRows& rows_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::exception_ptr thrown_;  // by a handler  // of a handler
  std::string path_;           // of the element that is open
  std::string text_;           // in it
  std::string worker_;
  std::string image_;
  std::string attribute_;
  std::vector<Tag> tags_;
  bool is_task_ = false;
};

}  // namespace

ExportFormat cvat_xml() {
  return {
      {"cvat", "CVAT for images, XML", "an XML file whose root is `annotations`, with `meta` in it",
       "name of the image", "username of the job's assignee",
       "tag; attributes of tags only with `--question NAME`",
       "shapes and tracks; images without a tag abstain; tags with `source=\"auto\"` are predictions"},
      [](const ExportGlimpse& g) {
        const std::string_view start = std::string_view(g.start).substr(0, 4096);
        return g.kind == ExportGlimpse::Kind::xml &&
               start.find("<annotations>") != std::string_view::npos &&
               start.find("<meta>") != std::string_view::npos;
      },
      [](ExportInput& input, ImportedRows& rows) { CvatReader(input, rows).run(); }};
}

}  // namespace crowdfold
