# shellcheck shell=bash
# Sourced by what builds a Python: sources and packages of Debian, whose sums are those of Debian's lists.
index=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | sed -n 1p)

# Gets a file of Debian: fetch PATH SUM FILE
fetch() {
    curl -sSf -o "$3.part" "$index/$1" && sha256sum --check --quiet <<< "$2  $3.part" && mv "$3.part" "$3"
}

# Unpacks the sources of a package of Debian's next release: unpack_sources PACKAGE FOLDER [FILE SUM]
# FILE is taken where a mirror has new lists and not yet the new sources.
unpack_sources() {
    local directory name sum
    read -r directory name sum < <(curl -sSf "$index/dists/testing/main/source/Sources.xz" | xz -d | awk -v package="$1" '
        $1 == "Package:" { here = $2 == package }
        /^[^ ]/ { sums = $1 == "Checksums-Sha256:" }
        here && $1 == "Directory:" { directory = $2 }
        here && sums && $3 ~ /\.orig\.tar\.[gx]z$/ { name = $3; sum = $1 }
        END { print directory, name, sum }')
    mkdir -p "$2"
    fetch "$directory/$name" "$sum" "$2.tar" || { [ $# -eq 4 ] && fetch "$directory/$3" "$4" "$2.tar"; }
    tar xf "$2.tar" -C "$2" --strip-components 1
    rm "$2.tar"
}

# Unpacks a package of Debian's stable release: unpack_package PACKAGE ARCHITECTURE FOLDER
unpack_package() {
    local file sum
    read -r file sum < <(curl -sSf "$index/dists/stable/main/binary-$2/Packages.xz" | xz -d | awk -v package="$1" '
        $1 == "Package:" { here = $2 == package }
        here && $1 == "Filename:" { file = $2 }
        here && $1 == "SHA256:" { sum = $2 }
        END { print file, sum }')
    fetch "$file" "$sum" "$3.deb"
    dpkg -x "$3.deb" "$3"
    rm "$3.deb"
}
