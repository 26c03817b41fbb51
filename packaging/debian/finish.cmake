# What Debian wants in each package and other systems do not: compressed pages,
# copyright and changelog, no search path in the tool.  Run by CPack between
# installing into its folders and making packages of them.

set(epoch $ENV{SOURCE_DATE_EPOCH})
if(NOT epoch)
  file(TIMESTAMP ${CPACK_HWTDECODE_SOURCE}/CHANGELOG.md epoch "%s" UTC)
endif()
set(ENV{SOURCE_DATE_EPOCH} ${epoch})
set(ENV{LC_ALL} C)
execute_process(COMMAND date -u -R -d @${epoch} OUTPUT_VARIABLE date
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(top ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
  set(doc ${top}/share/doc/${package})
  # One folder of documents, named as the package is.
  if(EXISTS ${top}/share/doc/hwtdecode)
    file(RENAME ${top}/share/doc/hwtdecode ${doc})
    file(REMOVE ${doc}/LICENSE ${doc}/CHANGELOG.md)
  endif()
  file(MAKE_DIRECTORY ${doc})
  file(COPY_FILE ${CPACK_HWTDECODE_SOURCE}/CHANGELOG.md ${doc}/changelog)
  file(READ ${CPACK_HWTDECODE_SOURCE}/LICENSE licence)
  file(WRITE ${doc}/copyright "libhwtdecode ${CPACK_PACKAGE_VERSION}\n\n"
    "${licence}")
  file(WRITE ${doc}/changelog.Debian
    "hwtdecode (${version}) unstable; urgency=medium\n\n"
    "  * Packages made by the build of the project; see changelog.gz.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB_RECURSE squeeze ${top}/share/man/*.[1-9])
  execute_process(COMMAND gzip -9nf ${squeeze} ${doc}/changelog
    ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
  # Modes of the sources are those of who checked them out.
  file(CHMOD_RECURSE ${top}/share
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
      GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  if(EXISTS ${top}/bin/hwtdecode)
    file(RPATH_REMOVE FILE ${top}/bin/hwtdecode)
  endif()
endforeach()
