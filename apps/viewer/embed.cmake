# Writes a source that holds every file of FOLDER. The assembler takes the bytes, which is quick whatever their size.
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(blocks "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  string(APPEND blocks "__asm__(\".section .rodata\\n\" \"viewer_file_${number}:\\n\" \".incbin \\\"${FOLDER}/${file}\\\"\\n\"
        \".previous\\n\");
extern \"C\" const char viewer_file_${number}[] __asm__(\"viewer_file_${number}\");\n")
  file(SIZE ${FOLDER}/${file} size)
  string(APPEND entries "      EmbeddedFile{\"${file}\", {viewer_file_${number}, ${size}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by apps/viewer/embed.cmake.
#include <array>
#include <cstddef>

#include \"apps/viewer/server/embedded.h\"

${blocks}
namespace isochron::viewer {

std::span<const EmbeddedFile> embedded_files() {
  static const std::array files{
${entries}  };
  return files;
}

bool client_built() { return ${BUILT}; }

}  // namespace isochron::viewer
")
