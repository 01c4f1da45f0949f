#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "isochron/io/mesh/formats.h"
#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

/// Looks up where a tag was in a list. A table where the tags are dense, as they nearly always are; else sorted pairs.
class TagMap {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  TagMap() = default;
  /// Later duplicates win; `duplicates` tells whether there were any.
  explicit TagMap(const std::vector<std::uint64_t>& tags) {
    if (tags.empty()) return;
    const auto [low, high] = std::minmax_element(tags.begin(), tags.end());
    first_ = *low;
    const std::uint64_t span = *high - *low;
    if (span / 4 <= tags.size() + 1024) {
      table_.assign(static_cast<std::size_t>(span) + 1, none);
      for (std::size_t i = 0; i < tags.size(); ++i) {
        std::uint32_t& entry = table_[static_cast<std::size_t>(tags[i] - first_)];
        duplicates_ = duplicates_ || entry != none;
        entry = static_cast<std::uint32_t>(i);
      }
      return;
    }
    sorted_.reserve(tags.size());
    for (std::size_t i = 0; i < tags.size(); ++i) sorted_.emplace_back(tags[i], static_cast<std::uint32_t>(i));
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      duplicates_ = duplicates_ || sorted_[i].first == sorted_[i - 1].first;
  }

  [[nodiscard]] bool duplicates() const { return duplicates_; }
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t tag) const {
    if (sorted_.empty()) {
      const std::uint64_t place = tag - first_;
      if (tag < first_ || place >= table_.size() || table_[place] == none) return std::nullopt;
      return table_[place];
    }
    const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, std::uint32_t{0}));
    if (it == sorted_.end() || it->first != tag) return std::nullopt;
    return it->second;
  }

 private:
  std::uint64_t first_ = 0;
  std::vector<std::uint32_t> table_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted_;
  bool duplicates_ = false;
};

struct GmshElement {
  int vtk_kind = 0;
  std::size_t corners = 0;  // they come first; what follows them curves the element
  int nodes = 0;
};
/// The orders of a kind of element: Gmsh's number and the number of nodes of each.
struct ElementFamily {
  int vtk_kind;
  std::size_t corners;
  std::array<std::pair<int, int>, 8> members;
};
constexpr ElementFamily element_families[] = {
    {kind_line, 2, {{{1, 2}, {8, 3}, {26, 4}, {27, 5}, {28, 6}}}},
    {kind_triangle, 3, {{{2, 3}, {9, 6}, {20, 9}, {21, 10}, {22, 12}, {23, 15}, {24, 15}, {25, 21}}}},
    {kind_tetra, 4, {{{4, 4}, {11, 10}, {29, 20}, {30, 35}, {31, 56}}}},
    {kind_quad, 4, {{{3, 4}, {10, 9}, {16, 8}}}},
    {kind_hexahedron, 8, {{{5, 8}, {12, 27}, {17, 20}, {92, 64}, {93, 125}}}},
    {kind_wedge, 6, {{{6, 6}, {13, 18}, {18, 15}}}},
    {kind_pyramid, 5, {{{7, 5}, {14, 14}, {19, 13}}}},
    {kind_vertex, 1, {{{15, 1}}}}};
constexpr std::size_t max_nodes = 125;
/// By Gmsh's numbers; those without nodes are not known.
constexpr auto gmsh_types = [] {
  std::array<GmshElement, 94> types{};
  for (const ElementFamily& family : element_families)
    for (const auto& [number, nodes] : family.members)
      if (nodes > 0) types[static_cast<std::size_t>(number)] = {family.vtk_kind, family.corners, nodes};
  return types;
}();

class GmshReader {
 public:
  GmshReader(const std::filesystem::path& path, std::string_view text)
      : in_(path, text, {}), keep_element_tags_(text.find("$ElementData") != std::string_view::npos) {}

  Dataset read() {
    read_format();
    while (!in_.at_end()) {
      const std::string name(in_.word("a section"));
      if (!name.starts_with('$'))
        in_.fail("{} is not a section (sections start with $); export the file again", in_quotes(name));
      read_section(name.substr(1));
    }
    if (!nodes_seen_) in_.fail("there is no $Nodes section (nothing to read); export the file again");
    store_tags();
    return std::move(result_);
  }

 private:
  struct Entity {
    std::int32_t physical = 0;
    std::int32_t geometrical = 0;
  };
  /// A stretch of elements, with their tags where each has its own.
  struct Elements {
    CellList cells;
    std::vector<Entity> labels;
    std::vector<std::uint64_t> tags;  // where they are kept
    bool high_order = false;

    void reserve(std::size_t rows) { cells.reserve(4 * rows); }
  };
  struct Cells {
    std::vector<std::int32_t> physical;
    std::vector<std::int32_t> geometrical;
    std::vector<std::uint64_t> tags;      // of the elements that the cells are, or are pieces of
    std::vector<std::uint32_t> elements;  // the place of each cell's element among these tags
  };
  struct Header {
    std::string name;
    int components = 1;
    std::size_t rows = 0;
  };

  template <class T>
  T value(TextScanner& in, std::string_view what) const {
    if (binary_) {
      const T stored = in.raw<T>(what);
      return swap_ ? byte_swapped(stored) : stored;
    }
    if constexpr (std::is_floating_point_v<T>) return in.real(what);
    else return in.integer<T>(what);
  }
  template <class T>
  T value(std::string_view what) {
    return value<T>(in_, what);
  }
  std::int32_t integer(std::string_view what) { return value<std::int32_t>(what); }
  std::uint64_t size(std::string_view what) { return value<std::uint64_t>(what); }
  /// A count, with what one item takes at least: in text (with its blank) and in binary.
  std::size_t count(std::string_view what, std::size_t text_bytes, std::size_t binary_bytes) {
    const std::uint64_t number = size(what);
    in_.check_count(what, number, binary_ ? binary_bytes : text_bytes);
    return static_cast<std::size_t>(number);
  }
  Vec3d point(TextScanner& in) const {
    Vec3d p;
    for (int k = 0; k < 3; ++k) {
      p[k] = value<double>(in, "a coordinate");
      if (!std::isfinite(p[k])) in.fail("a coordinate is {} (it must be finite); export the file again", p[k]);
    }
    return p;
  }
  /// The bytes of a row of a binary file; 0 in text, where it is a line.
  [[nodiscard]] std::size_t row_bytes(std::size_t bytes) const { return binary_ ? bytes : 0; }

  void read_format() {
    if (in_.peek() != "$MeshFormat")
      in_.fail("$MeshFormat is missing (this is not a Gmsh file of version 2 or 4); check the extension");
    in_.word("$MeshFormat");
    version_ = in_.real("the version");
    if (!((version_ >= 2.0 && version_ < 3.0) || version_ == 4.1))
      in_.fail("format version {} (known are 2.x and 4.1); save it as 4.1 or 2.2", version_);
    const bool binary = in_.integer<int>("the file type") != 0;
    if (in_.integer<int>("the size of a number") != 8)
      in_.fail("numbers are not 8 bytes wide; save the file with Gmsh again");
    if (binary) {
      in_.skip_line();
      in_.report_bytes();
      const auto one = in_.raw<std::int32_t>("the byte order mark");
      swap_ = one != 1;
      if (swap_ && byte_swapped(one) != 1)
        in_.fail("the byte order mark is not 1 (the file is damaged); export it again");
    }
    end_section("MeshFormat");
    binary_ = binary;
  }

  void end_section(std::string_view name) {
    const std::string_view word = in_.word("the end of the section");
    if (word.substr(0, 4) != "$End" || word.substr(4) != name)
      in_.fail("$End{} was expected, not {} (counts and rows do not match); export the file again", name,
               in_quotes(word));
  }

  void read_section(const std::string& name) {
    if (binary_) in_.skip_line();
    if (name == "Entities") read_entities(Entities::whole);
    else if (name == "PartitionedEntities") read_entities(Entities::partitioned);
    else if (name == "Nodes") version_ < 3 ? read_nodes_2() : read_nodes_4();
    else if (name == "Elements") read_elements();
    else if (name == "NodeData") read_node_data();
    else if (name == "ElementData") read_element_data();
    else if (in_.skip_past("$End" + name)) return;
    else in_.truncated("$End" + in_quotes(name));
    end_section(name);
  }

  // ---- entities: the physical group of each geometrical thing

  enum class Entities { whole, partitioned };

  void read_entities(Entities which) {
    if (which == Entities::partitioned) {
      size("the number of partitions");
      const std::size_t ghosts = count("the number of ghosts", 4, 8);
      for (std::size_t i = 0; i < 2 * ghosts; ++i) integer("a ghost entity");
    }
    std::array<std::size_t, 4> counts{};
    for (std::size_t& c : counts) c = count("the number of entities", 8, 20);
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::size_t i = 0; i < counts[static_cast<std::size_t>(dimension)]; ++i) {
        const std::int32_t tag = integer("an entity");
        std::int32_t geometrical = tag;
        if (which == Entities::partitioned) {
          integer("the parent's dimension");
          geometrical = integer("the parent");
          const std::size_t partitions = count("the number of partitions", 2, 4);
          for (std::size_t k = 0; k < partitions; ++k) integer("a partition");
        }
        read_entity_body(dimension, tag, geometrical);
      }
  }

  void read_entity_body(int dimension, std::int32_t tag, std::int32_t geometrical) {
    for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) value<double>("a coordinate");
    Entity entity{0, geometrical};
    const std::size_t groups = count("the number of physical groups", 2, 4);
    for (std::size_t k = 0; k < groups; ++k) {
      const std::int32_t group = integer("a physical group");
      if (k == 0) entity.physical = group == std::numeric_limits<std::int32_t>::min() ? 0 : std::abs(group);
    }
    if (groups > 1) several_groups_ = true;
    if (dimension > 0) {
      const std::size_t bounds = count("the number of bounding entities", 2, 4);
      for (std::size_t k = 0; k < bounds; ++k) integer("a bounding entity");
    }
    entities_[{dimension, tag}] = entity;
  }

  Entity entity(int dimension, std::int32_t tag) const {
    const auto it = entities_.find({dimension, tag});
    return it == entities_.end() ? Entity{0, tag} : it->second;
  }

  // ---- nodes

  void read_nodes_2() {
    const std::size_t nodes = text_count("the number of nodes", 8, 28);
    std::vector<std::uint64_t> tags(nodes);
    result_.points.resize(nodes);
    read_rows(in_, nodes, row_bytes(28), [&](TextScanner& in, std::size_t i) {
      tags[i] = positive(in, "a node's number");
      result_.points[i] = point(in);
    });
    finish_nodes(tags);
  }

  void read_nodes_4() {
    const std::size_t blocks = count("the number of blocks", 8, 20);
    const std::size_t nodes = count("the number of nodes", 8, 32);
    size("the first node");
    size("the last node");
    std::vector<std::uint64_t> tags;
    tags.reserve(nodes);
    result_.points.reserve(nodes);
    for (std::size_t b = 0; b < blocks; ++b) {
      const int dimension = integer("a block's dimension");
      integer("a block's entity");
      const int parameters = integer("whether the block has parameters") != 0 ? dimension : 0;
      const std::size_t rows = count("the number of nodes in a block", 8, 32);
      const std::size_t before = tags.size(), values = 3 + static_cast<std::size_t>(std::clamp(parameters, 0, 3));
      tags.resize(before + rows);
      read_rows(in_, rows, row_bytes(8), [&](TextScanner& in, std::size_t i) {
        tags[before + i] = value<std::uint64_t>(in, "a node's number");
      });
      result_.points.resize(before + rows);
      read_rows(in_, rows, row_bytes(8 * values), [&](TextScanner& in, std::size_t i) {
        result_.points[before + i] = point(in);
        for (std::size_t k = 3; k < values; ++k) value<double>(in, "a parameter");
      });
    }
    if (result_.points.size() != nodes)
      in_.fail("the blocks do not add up to the number of nodes; export the file again");
    finish_nodes(tags);
  }

  void finish_nodes(const std::vector<std::uint64_t>& tags) {
    if (nodes_seen_) in_.fail("a second $Nodes section (one is allowed); split the file");
    nodes_seen_ = true;
    node_of_tag_ = TagMap(tags);
    if (node_of_tag_.duplicates())
      in_.fail("two nodes have the same number (elements are ambiguous); export the file again");
  }

  // ---- elements

  static GmshElement element_type(const TextScanner& in, int number) {
    if (number >= 0 && std::cmp_less(number, gmsh_types.size()))
      if (const GmshElement& type = gmsh_types[static_cast<std::size_t>(number)]; type.nodes > 0) return type;
    in.fail("element type {} is not known (its length is unknown); export linear elements", number);
  }

  void read_elements() {
    if (elements_seen_) in_.fail("a second $Elements section (one is allowed); split the file");
    elements_seen_ = true;
    version_ < 3 ? read_elements_2() : read_elements_4();
  }

  void read_elements_2() {
    const std::size_t elements = text_count("the number of elements", 6, 8);
    if (!binary_) {
      add_elements(read_rows<Elements>(in_, elements, 0,
                                       [&](TextScanner& in, std::size_t, Elements& part) {
                                         const auto tag = value<std::int32_t>(in, "an element's number");
                                         const GmshElement type =
                                             element_type(in, value<std::int32_t>(in, "an element type"));
                                         read_labelled(in, type, label_count(in), tag, part);
                                       }),
                   {});
      return;
    }
    for (std::size_t done = 0; done < elements;) {
      const GmshElement type = element_type(in_, integer("an element type"));
      const std::int32_t rows = integer("the number of elements in a block"), labels = label_count(in_);
      if (rows < 1) fail_negative(in_);
      done += static_cast<std::size_t>(rows);
      const std::size_t bytes = 4 * (1 + static_cast<std::size_t>(labels) + static_cast<std::size_t>(type.nodes));
      add_elements(read_rows<Elements>(in_, static_cast<std::size_t>(rows), bytes,
                                       [&](TextScanner& in, std::size_t, Elements& part) {
                                         const auto tag = value<std::int32_t>(in, "an element's number");
                                         read_labelled(in, type, labels, tag, part);
                                       }),
                   {});
      if (done > elements) in_.fail("the blocks do not add up to the number of elements; export the file again");
    }
  }

  [[noreturn]] static void fail_negative(const TextScanner& in) {
    in.fail("a count is negative (the file is damaged); export it again");
  }
  std::int32_t label_count(TextScanner& in) const {
    const auto labels = value<std::int32_t>(in, "the number of tags");
    if (labels < 0) fail_negative(in);
    return labels;
  }

  /// The rest of an element of version 2.
  void read_labelled(TextScanner& in, const GmshElement& type, std::int32_t labels, std::int32_t tag,
                     Elements& part) const {
    Entity entity;
    for (std::int32_t k = 0; k < labels; ++k) {
      const auto label = value<std::int32_t>(in, "a tag");
      if (k == 0) entity.physical = label;
      if (k == 1) entity.geometrical = label;
    }
    require_positive(in, tag);
    part.labels.push_back(entity);
    read_element<std::int32_t>(in, type, static_cast<std::uint64_t>(tag), part);
  }

  void read_elements_4() {
    const std::size_t blocks = count("the number of blocks", 8, 20);
    const std::size_t elements = count("the number of elements", 4, 16);
    size("the first element");
    size("the last element");
    std::size_t done = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      const int dimension = integer("a block's dimension");
      const Entity owner = entity(dimension, integer("a block's entity"));
      const GmshElement type = element_type(in_, integer("an element type"));
      const std::size_t rows = count("the number of elements in a block", 4, 16);
      add_elements(read_rows<Elements>(in_, rows, row_bytes(8 * (1 + static_cast<std::size_t>(type.nodes))),
                                       [&](TextScanner& in, std::size_t, Elements& part) {
                                         const auto tag = value<std::uint64_t>(in, "an element's number");
                                         read_element<std::uint64_t>(in, type, tag, part);
                                       }),
                   owner);
      done += rows;
    }
    if (done != elements) in_.fail("the blocks do not add up to the number of elements; export the file again");
  }

  template <class Stored>
  void read_element(TextScanner& in, const GmshElement& type, std::uint64_t tag, Elements& part) const {
    std::array<VertexId, max_nodes> nodes;
    for (int k = 0; k < type.nodes; ++k) {
      const auto number = static_cast<std::uint64_t>(value<Stored>(in, "an element's node"));
      const auto found = node_of_tag_.find(number);
      if (!found) in.fail("node {} is used but not in the file (id out of range); export the file again", number);
      nodes[static_cast<std::size_t>(k)] = VertexId(*found);
    }
    part.cells.add(type.vtk_kind, std::span(nodes).first(type.corners));
    if (static_cast<std::size_t>(type.nodes) > type.corners) part.high_order = true;
    if (keep_element_tags_) part.tags.push_back(tag);
  }

  /// `owner` has the tags of elements that have none of their own.
  void add_elements(const std::vector<Elements>& parts, Entity owner) {
    const AddedCells all = adder_.add_all(lists_of(parts));
    for (const Elements& part : parts) high_order_ = high_order_ || part.high_order;
    if (all.count > 0) return add_tags_of_all(parts, owner, all);
    for (const Elements& part : parts) {
      std::size_t i = 0;
      const auto add_tags = [&](const AddedCells& added) {
        const Entity labels = part.labels.empty() ? owner : part.labels[i];
        if (added.count > 0) add_cell_tags(added, labels, part.tags.empty() ? 0 : part.tags[i]);
        ++i;
      };
      part.cells.for_each([&](int kind, std::span<const VertexId> v) { add_tags(adder_.add(kind, v)); });
    }
  }

  /// The tags where every element became one cell.
  void add_tags_of_all(const std::vector<Elements>& parts, Entity owner, const AddedCells& all) {
    Cells& cells = cells_[static_cast<std::size_t>(all.kind)];
    const std::size_t end = cells.physical.size() + all.count;
    std::vector<std::size_t> begin;
    for (std::size_t place = cells.physical.size(); const Elements& part : parts)
      begin.push_back(std::exchange(place, place + part.cells.count()));
    cells.physical.resize(end, owner.physical);
    cells.geometrical.resize(end, owner.geometrical);
    const std::size_t tags_before = cells.tags.size(), skew = end - all.count - tags_before;
    if (keep_element_tags_) {
      cells.elements.resize(end);
      cells.tags.resize(tags_before + all.count);
    }
    parallel_tasks(usual_threads(), parts.size(), [&](std::size_t p) {
      const Elements& part = parts[p];
      for (std::size_t i = 0; i < part.labels.size(); ++i) {
        cells.physical[begin[p] + i] = part.labels[i].physical;
        cells.geometrical[begin[p] + i] = part.labels[i].geometrical;
      }
      for (std::size_t i = 0; i < part.tags.size(); ++i) {
        const std::size_t place = begin[p] + i - skew;  // cells of cut elements share a tag
        cells.tags[place] = part.tags[i];
        cells.elements[begin[p] + i] = static_cast<std::uint32_t>(place);
      }
    });
  }

  void add_cell_tags(const AddedCells& added, Entity labels, std::uint64_t tag) {
    Cells& cells = cells_[static_cast<std::size_t>(added.kind)];
    cells.physical.insert(cells.physical.end(), added.count, labels.physical);
    cells.geometrical.insert(cells.geometrical.end(), added.count, labels.geometrical);
    if (!keep_element_tags_) return;
    cells.elements.insert(cells.elements.end(), added.count, static_cast<std::uint32_t>(cells.tags.size()));
    cells.tags.push_back(tag);
  }

  static void require_positive(const TextScanner& in, std::int32_t number) {
    if (number < 0) in.fail("the number {} is negative (ids are not); export the file again", number);
  }
  std::uint64_t positive(TextScanner& in, std::string_view what) const {
    const auto number = value<std::int32_t>(in, what);
    require_positive(in, number);
    return static_cast<std::uint64_t>(number);
  }

  /// A count that is text even in binary files, alone in its line.
  std::size_t text_count(std::string_view what, std::size_t text_bytes, std::size_t binary_bytes) {
    const std::size_t number = in_.count(what, binary_ ? binary_bytes : text_bytes);
    if (binary_) in_.skip_line();
    return number;
  }

  // ---- data

  Header read_data_header() {
    Header header;
    const auto strings = in_.count("the number of names", 1);
    in_.skip_line();
    for (std::size_t k = 0; k < strings; ++k) {
      std::string_view text = in_.rest_of_line();
      if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"')) text = text.substr(1, text.size() - 2);
      if (k == 0) header.name = text;
    }
    const auto reals = in_.count("the number of real values", 1);
    for (std::size_t k = 0; k < reals; ++k) in_.real("a real value");
    const auto integers = in_.count("the number of whole values", 1);
    for (std::size_t k = 0; k < integers; ++k) {
      const auto number = in_.integer<std::int64_t>("a whole value");
      if (k == 1) header.components = number >= 1 && number <= 1000 ? static_cast<int>(number) : 0;
      if (k == 2) header.rows = static_cast<std::size_t>(std::max<std::int64_t>(number, 0));
    }
    if (header.components == 0) in_.fail("the number of components cannot be right; export the file again");
    const auto width = static_cast<std::size_t>(header.components);
    in_.check_count("the number of rows", header.rows, binary_ ? 4 + 8 * width : 2 + 2 * width);
    if (binary_) in_.skip_line();
    if (header.name.empty()) header.name = "unnamed";
    return header;
  }

  /// A stretch of rows: how many values were placed for each kind of cells, or for nodes, and the tags at its ends.
  struct DataRows {
    std::array<std::size_t, cell_kinds.size()> placed{};
    std::uint64_t first = 0, last = 0;
    std::size_t rows = 0;
    bool increasing = true;
  };

  /// Fills rows "tag value...": `place(in, tag, part)` counts a row and says where it goes, null for nowhere. Several
  /// threads call it. Returns how many were placed.
  template <class Place>
  auto read_data_rows(const Header& header, Place&& place) {
    const auto read = [&](TextScanner& in, std::size_t, DataRows& part) {
      const std::uint64_t tag = positive(in, "a row's number");
      if (part.rows == 0) part.first = tag;
      else if (tag <= part.last) part.increasing = false;
      part.last = tag;
      ++part.rows;
      double* const tuple = place(in, tag, part);
      for (int k = 0; k < header.components; ++k) {
        const auto number = value<double>(in, "a value");
        if (tuple != nullptr) std::atomic_ref(tuple[k]).store(number, std::memory_order_relaxed);
      }
    };
    const TextScanner start = in_;
    const std::size_t bytes = row_bytes(4 + 8 * static_cast<std::size_t>(header.components));
    auto parts = read_rows<DataRows>(in_, header.rows, bytes, read);
    std::erase_if(parts, [](const DataRows& part) { return part.rows == 0; });
    bool increasing = true;
    for (std::size_t i = 0; i < parts.size(); ++i)
      increasing = increasing && parts[i].increasing && (i == 0 || parts[i - 1].last < parts[i].first);
    if (!increasing) {  // of a tag that is there twice the last row counts
      parts.assign(1, {});
      in_ = start;
      for (std::size_t row = 0; row < header.rows; ++row) read(in_, row, parts[0]);
    }
    auto sum = decltype(DataRows::placed){};
    for (const DataRows& part : parts)
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += part.placed[k];
    return sum;
  }

  void read_node_data() {
    if (!nodes_seen_) in_.fail("$NodeData comes before $Nodes (it cannot be placed); move it behind");
    const Header header = read_data_header();
    const auto width = static_cast<std::size_t>(header.components);
    std::once_flag first;
    std::vector<double> values;
    const auto placed = read_data_rows(header, [&](const TextScanner& in, std::uint64_t tag, DataRows& part) {
      const auto node = node_of_tag_.find(tag);
      if (!node)
        in.fail("{} has a value for node {}, which does not exist; export the file again", in_quotes(header.name), tag);
      std::call_once(first,
                     [&] { values.assign(width * result_.points.size(), std::numeric_limits<double>::quiet_NaN()); });
      ++part.placed[0];
      return values.data() + *node * width;
    });
    if (values.empty()) return;
    store(result_.point_data, header, std::move(values), placed[0], "nodes");
  }

  void read_element_data() {
    if (!elements_seen_) in_.fail("$ElementData comes before $Elements (it cannot be placed); move it behind");
    const Header header = read_data_header();
    const auto width = static_cast<std::size_t>(header.components);
    if (!element_maps_built_) {
      element_maps_built_ = true;
      for (std::size_t k = 0; k < cell_kinds.size(); ++k) element_of_tag_[k] = TagMap(cells_[k].tags);
    }
    std::array<std::once_flag, cell_kinds.size()> first;
    std::array<std::vector<double>, cell_kinds.size()> values;
    const auto placed = read_data_rows(header, [&](const TextScanner&, std::uint64_t tag, DataRows& part) -> double* {
      for (std::size_t k = 0; k < cell_kinds.size(); ++k) {
        const auto cell = element_of_tag_[k].find(tag);
        if (!cell) continue;
        std::call_once(first[k], [&] {
          values[k].assign(width * cells_[k].tags.size(), std::numeric_limits<double>::quiet_NaN());
        });
        ++part.placed[k];
        return values[k].data() + *cell * width;
      }
      return nullptr;  // of an ignored kind
    });
    for (std::size_t k = 0; k < cell_kinds.size(); ++k) {
      if (values[k].empty()) continue;
      DataArrays& arrays = arrays_of(result_, cell_kinds[k]);
      store(arrays, header, std::move(values[k]), placed[k], "elements");
      const bool cut = cells_[k].elements.size() > cells_[k].tags.size();
      if (cut) arrays.set(chosen_tuples(*arrays.find(header.name), cells_[k].elements));
    }
  }

  void store(DataArrays& arrays, const Header& header, std::vector<double> values, std::size_t placed,
             std::string_view where) {
    const std::size_t tuples = values.size() / static_cast<std::size_t>(header.components);
    if (placed < tuples)
      warn_once(fmt::format("array {} has values for {} of {} {}; the others are NaN", in_quotes(header.name), placed,
                            tuples, where));
    if (arrays.find(header.name) != nullptr)
      warn_once(fmt::format("array {} is there more than once; the last one is kept", in_quotes(header.name)));
    arrays.set({header.name, header.components, std::move(values)});
  }

  void warn_once(std::string text) {
    auto& warnings = result_.warnings;
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) warnings.push_back(std::move(text));
  }

  void store_tags() {
    for (std::size_t k = 0; k < cell_kinds.size(); ++k) {
      set_labels(arrays_of(result_, cell_kinds[k]), gmsh_physical, std::move(cells_[k].physical));
      set_labels(arrays_of(result_, cell_kinds[k]), gmsh_geometrical, std::move(cells_[k].geometrical));
    }
    if (several_groups_)
      result_.warnings.emplace_back("cells in several physical groups: gmsh:physical holds the first");
    if (high_order_)
      result_.warnings.emplace_back(
          "curved elements: only their corners are used, the nodes between them belong to no element");
  }

  TextScanner in_;
  bool keep_element_tags_;
  double version_ = 0;
  bool binary_ = false;
  bool swap_ = false;
  bool nodes_seen_ = false;
  bool elements_seen_ = false;
  bool element_maps_built_ = false;
  bool several_groups_ = false;
  bool high_order_ = false;
  Dataset result_;
  CellAdder adder_{result_};
  std::map<std::pair<int, std::int32_t>, Entity> entities_;
  TagMap node_of_tag_;
  std::array<Cells, cell_kinds.size()> cells_;
  std::array<TagMap, cell_kinds.size()> element_of_tag_;
};

}  // namespace

Dataset read_gmsh(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  return GmshReader(path, bytes.text()).read();
}

}  // namespace isochron
