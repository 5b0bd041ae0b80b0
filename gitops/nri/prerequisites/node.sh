#!/bin/sh
# Looks at one node (probe), or repairs it and looks again (repair), and prints what it found as one line of JSON.
#
#   node.sh probe
#   node.sh repair [dbus] [nri]
#
# It runs with the node's own files and tools: `chroot` into the node for probe, which changes nothing, and `nsenter` to
# PID 1 for repair. Whatever cannot be done is told in "error"; the exit code is 0 whenever the line was printed, and 64
# for wrong usage. A second repair changes nothing.
#
# NODE_ROOT      a prefix of all files, for tests; empty on a node
# NODE_PATH      where its tools are, for tests
# NODE_PATIENCE  seconds to wait for a socket to appear (30)
#
# containerd keeps NRI in the plugin section io.containerd.nri.v1.nri. It is off by default before 2.0. Files named by
# `imports` come after the file that names them, and a later section replaces an earlier one as a whole
# (containerd cmd/containerd/server/config).
set -u
umask 022
PATH=${NODE_PATH:-$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin}
export PATH
LC_ALL=C
export LC_ALL

root=${NODE_ROOT:-}
patience=${NODE_PATIENCE:-30}
dbus_socket=$root/run/dbus/system_bus_socket
nri_socket=$root/run/nri/nri.sock
config=$root/etc/containerd/config.toml
drop_in_folder=/etc/containerd/conf.d
drop_in_name=zz-shoot-gitops-nri.toml
restarted=$root/run/shoot-gitops-containerd-restarted
nri_plugin=io.containerd.nri.v1.nri
changed=
error=

# ---- words

# One line, short, and safe inside a JSON string.
json_text() {
    printf '%s' "$1" | tr '\000-\037\177' ' ' | cut -c 1-600 | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g'
}

note() {
    changed="$changed${changed:+, }\"$(json_text "$1")\""
}

# The first explanation counts: what comes after is its consequence.
explain() {
    [ -n "$error" ] || error=$1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# The last lines of what a failed command said.
said() {
    printf '%s\n' "$1" | tail -n 3 | tr '\n' ' '
}

# ---- systemd

systemd_state() {
    if [ ! -d "$root/run/systemd/system" ] || ! have systemctl; then
        echo absent
        return
    fi
    # What is asked here is the node's systemd, also from inside a chroot into the node.
    case $(SYSTEMD_IGNORE_CHROOT=1 systemctl is-system-running 2>/dev/null) in
    running | degraded | starting | initializing | maintenance) echo running ;;
    *) echo silent ;;
    esac
}

unit_state() {
    SYSTEMD_IGNORE_CHROOT=1 systemctl "$1" "$2" 2>/dev/null | head -n 1
}

# ---- D-Bus

dbus_path_state() {
    if [ -S "$dbus_socket" ]; then
        echo socket
    elif [ -d "$dbus_socket" ]; then
        echo directory
    elif [ -h "$dbus_socket" ]; then
        echo dangling
    elif [ -e "$dbus_socket" ]; then
        echo file
    else
        echo absent
    fi
}

dbus_daemon_state() {
    if [ "$systemd" = running ]; then
        for unit in dbus.socket dbus.service dbus-broker.service; do
            if [ "$(unit_state is-active "$unit")" = active ]; then
                echo active
                return
            fi
        done
        for unit in dbus.service dbus.socket; do
            if [ "$(unit_state is-enabled "$unit")" = masked ]; then
                echo masked
                return
            fi
        done
    fi
    if have dbus-daemon || have dbus-broker-launch; then
        echo inactive
    else
        echo missing
    fi
}

# ---- containerd

containerd_version() {
    containerd --version 2>/dev/null | sed -n 's/.*[ v]\([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1
}

runtime_state() {
    if have containerd || [ -e "$config" ] || [ -S "$root/run/containerd/containerd.sock" ]; then
        echo containerd
    elif have crio; then
        echo cri-o
    else
        echo unknown
    fi
}

# The config's version; 1 where a file with content does not say, nothing where there is no content.
config_version() {
    [ -f "$config" ] && grep -q '^[[:space:]]*[^#[:space:]]' "$config" || return 0
    number=$(sed -n -e '/^[[:space:]]*\[/q' -e 's/^[[:space:]]*version[[:space:]]*=[[:space:]]*\([0-9][0-9]*\).*/\1/p' \
        "$config" | head -n 1)
    echo "${number:-1}"
}

# The patterns in `imports`, one a line; relative ones start at the file's own folder.
imports_of() {
    awk '
        /^[ \t]*\[/ && !inside { exit }
        { sub(/[ \t]*#.*$/, "") }
        /^[ \t]*imports[ \t]*=/ { inside = 1; sub(/^[^=]*=/, "") }
        inside {
            text = $0
            while (match(text, /"[^"]*"|\047[^\047]*\047/)) {
                pattern = substr(text, RSTART + 1, RLENGTH - 2)
                print (pattern ~ /^\// ? "" : "/etc/containerd/") pattern
                text = substr(text, RSTART + RLENGTH)
            }
            if ($0 ~ /\]/) exit
        }' "$1" 2>/dev/null
}

# Every file that containerd reads, the one that counts last at the end; prefixed with the root.
config_files() {
    [ -r "$config" ] || return 0
    printf '%s\n' "$config"
    imports_of "$config" | while IFS= read -r pattern; do
        # Unquoted, as it is a glob pattern.
        # shellcheck disable=SC2086
        for file in $root$pattern; do
            [ -f "$file" ] && printf '%s\n' "$file"
        done
    done
}

# The body of a file's NRI section, dotted keys and sections below it included; fails where there is none.
nri_section() {
    awk -v plugin="$nri_plugin" '
        function bare(text) { gsub(/["\047 \t]/, "", text); return text }
        { sub(/^[ \t]+/, ""); sub(/[ \t]+#.*$/, ""); sub(/^#.*$/, "") }
        /^\[/ {
            below = (index(bare($0), "[plugins." plugin ".") == 1)
            inside = below || (bare($0) == "[plugins." plugin "]")
            found = found || inside
            if (below) print
            next
        }
        inside && NF { print; next }
        {
            key = $0; sub(/=.*/, "", key); key = bare(key)
            if (index(key, "plugins." plugin ".") == 1) {
                found = 1
                sub(/^[^=]*=[ \t]*/, "")
                print substr(key, length("plugins." plugin ".") + 1) " = " $0
            }
        }
        END { exit !found }' "$1" 2>/dev/null
}

# Whether a file switches the whole plugin off, which no section can switch on again.
disables_plugin() {
    awk -v plugin="$nri_plugin" '
        /^[ \t]*\[/ && !inside { exit }
        { sub(/[ \t]*#.*$/, "") }
        /^[ \t]*disabled_plugins[ \t]*=/ { inside = 1 }
        inside && (index($0, "\"" plugin "\"") || index($0, "\047" plugin "\047")) { found = 1 }
        inside && /\]/ { exit }
        END { exit !found }' "$1" 2>/dev/null
}

# The last file with an NRI section, which is the one that counts; empty where there is none.
nri_file() {
    config_files | while IFS= read -r file; do
        nri_section "$file" >/dev/null && printf '%s\n' "$file"
    done | tail -n 1
}

# The first file that switches the whole plugin off; empty where none does.
disabling_file() {
    config_files | while IFS= read -r file; do
        disables_plugin "$file" && printf '%s\n' "$file"
    done | head -n 1
}

# enabled, disabled, or why that cannot be told or changed.
nri_state() {
    if [ "$runtime" != containerd ]; then
        echo unknown
    elif [ -e "$config" ] && ! { [ -f "$config" ] && [ -r "$config" ]; }; then
        echo unreadable
    elif have containerd && [ -e "$config" ] && ! containerd --config "$config" config dump >/dev/null 2>&1; then
        echo broken
    elif [ -n "$(disabling_file)" ]; then
        echo disabled-plugin
    else
        nri_switch
    fi
}

nri_switch() {
    counts=$(nri_file)
    switch=
    [ -z "$counts" ] ||
        switch=$(nri_section "$counts" | sed -n -e '/^\[/q' -e 's/^disable[[:space:]]*=[[:space:]]*\([a-z]*\).*/\1/p')
    case $switch,$(containerd_version) in
    false,*) echo enabled ;;
    true,*) echo disabled ;;
    *,) echo unknown ;;
    *,0.* | *,1.*) echo disabled ;;
    *) echo enabled ;;
    esac
}

# ---- cgroups

cgroup_version() {
    if [ -e "$root/sys/fs/cgroup/cgroup.controllers" ]; then
        echo 2
    elif [ -d "$root/sys/fs/cgroup" ]; then
        echo 1
    else
        echo 0
    fi
}

cgroup_driver() {
    for file in "$root/var/lib/kubelet/config/kubelet" "$root/var/lib/kubelet/config.yaml"; do
        driver=$(sed -n 's/^cgroupDriver:[[:space:]]*"\{0,1\}\([a-z]*\).*/\1/p' "$file" 2>/dev/null | head -n 1)
        if [ -n "$driver" ]; then
            echo "$driver"
            return
        fi
    done
    if grep -Eq '^[[:space:]]*SystemdCgroup[[:space:]]*=[[:space:]]*true' "$config" 2>/dev/null; then
        echo systemd
    else
        echo unknown
    fi
}

# ---- CPUs

# Every distinct set of CPUs in some files of /sys, one a line.
cpu_sets() {
    cat "$@" 2>/dev/null | sort -u -n
}

json_list() {
    sed -e '/^$/d' -e 's/.*/"&"/' | paste -s -d , -
}

# Cores as runs: `0,64/1*64` is 64 cores, the first with the CPUs 0 and 64, each next one with those plus 1.
core_runs() {
    awk '
        function flush() { if (count) print first (count > 1 ? "/" step "*" count : "") }
        {
            number = 0; text = ""
            parts = split($0, part, ",")
            for (i = 1; i <= parts; i++) {
                split(part[i] "-" part[i], end, "-")
                for (cpu = end[1] + 0; cpu <= end[2] + 0; cpu++) { now[++number] = cpu; text = text (text == "" ? "" : ",") cpu }
            }
            difference = now[1] - last[1]
            same = (count && number == threads && (count == 1 || difference == step))
            for (i = 1; i <= number; i++) if (now[i] - last[i] != difference) same = 0
            if (same) { step = difference; count++ } else { flush(); first = text; count = 1; threads = number }
            for (i = 1; i <= number; i++) last[i] = now[i]
        }
        END { flush() }'
}

cpus() {
    system=$root/sys/devices/system
    packages=$(cpu_sets "$system"/cpu/cpu[0-9]*/topology/package_cpus_list)
    [ -n "$packages" ] || packages=$(cpu_sets "$system"/cpu/cpu[0-9]*/topology/core_siblings_list)
    cores=$(cpu_sets "$system"/cpu/cpu[0-9]*/topology/core_cpus_list)
    [ -n "$cores" ] || cores=$(cpu_sets "$system"/cpu/cpu[0-9]*/topology/thread_siblings_list)
    printf '{"packages":[%s],"nodes":[%s],"cores":[%s]}' "$(printf '%s\n' "$packages" | json_list)" \
        "$(cpu_sets "$system"/node/node[0-9]*/cpulist | json_list)" "$(printf '%s\n' "$cores" | core_runs | json_list)"
}

# ---- the report

look() {
    systemd=$(systemd_state)
    runtime=$(runtime_state)
}

report() {
    look
    nri_there=false
    [ -S "$nri_socket" ] && nri_there=true
    number=$(config_version)
    printf '{"v":1,"dbus":"%s","dbusDaemon":"%s","systemd":"%s","runtime":"%s","runtimeVersion":"%s",' \
        "$(dbus_path_state)" "$(dbus_daemon_state)" "$systemd" "$runtime" "$(containerd_version)"
    printf '"nri":"%s","nriSocket":%s,"configVersion":%s,"cgroup":%s,"cgroupDriver":"%s",' \
        "$(nri_state)" "$nri_there" "${number:-0}" "$(cgroup_version)" "$(cgroup_driver)"
    printf '"cpus":%s,"changed":[%s],"error":"%s"}\n' "$(cpus)" "$changed" "$(json_text "$error")"
}

# ---- repair: D-Bus

clear_dbus_path() {
    case $(dbus_path_state) in
    directory)
        if said_by=$(rmdir "$dbus_socket" 2>&1); then
            note "removed the directory /run/dbus/system_bus_socket"
        else
            explain "the directory /run/dbus/system_bus_socket cannot be removed: $(said "$said_by")"
        fi
        ;;
    dangling)
        if said_by=$(rm "$dbus_socket" 2>&1); then
            note "removed the dangling link /run/dbus/system_bus_socket"
        else
            explain "the link /run/dbus/system_bus_socket cannot be removed: $(said "$said_by")"
        fi
        ;;
    file)
        explain "/run/dbus/system_bus_socket is a plain file of somebody's: move it away by hand"
        ;;
    *) ;;
    esac
}

install_dbus() {
    if have apt-get; then
        DEBIAN_FRONTEND=noninteractive
        export DEBIAN_FRONTEND
        set -- apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 install dbus
        said_by=$("$@" 2>&1) || said_by=$(apt-get -q update 2>&1 && "$@" 2>&1)
    elif have zypper; then
        said_by=$(zypper --non-interactive install --no-recommends dbus-1 2>&1)
    elif have dnf; then
        said_by=$(dnf -q -y install dbus-daemon 2>&1)
    else
        explain "D-Bus is not installed and there is no apt-get, zypper or dnf: put it into the machine image"
        return
    fi || {
        explain "D-Bus cannot be installed: $(said "$said_by")"
        return
    }
    note "installed D-Bus"
}

start_dbus() {
    case $systemd in
    running) start_dbus_units ;;
    silent) explain "systemd does not answer, so D-Bus cannot be started" ;;
    absent)
        mkdir -p "$root/run/dbus"
        if [ -S "$dbus_socket" ]; then
            :
        elif said_by=$(dbus-daemon --system --fork 2>&1); then
            note "started dbus-daemon"
        else
            explain "dbus-daemon does not start: $(said "$said_by")"
        fi
        ;;
    *) ;;
    esac
    [ -n "$error" ] || wait_for "$dbus_socket" ||
        explain "D-Bus was started, and /run/dbus/system_bus_socket does not appear"
}

start_dbus_units() {
    for unit in dbus.socket dbus.service; do
        if [ "$(unit_state is-enabled "$unit")" = masked ]; then
            if said_by=$(systemctl unmask "$unit" 2>&1); then
                note "unmasked $unit"
            else
                explain "$unit is masked and cannot be unmasked: $(said "$said_by")"
                return
            fi
        fi
    done
    # A unit that runs has lost the socket that is missing here, and systemd binds it only for a unit that starts.
    [ -S "$dbus_socket" ] || systemctl stop dbus.socket dbus.service >/dev/null 2>&1
    for unit in dbus.socket dbus.service; do
        [ "$(unit_state is-active "$unit")" = active ] && continue
        if said_by=$(systemctl start "$unit" 2>&1); then
            note "started $unit"
        else
            explain "$unit does not start: $(said "$said_by")"
            return
        fi
    done
}

wait_for() {
    left=$patience
    while [ ! -S "$1" ]; do
        [ "$left" -gt 0 ] || return 1
        left=$((left - 1))
        sleep 1
    done
}

repair_dbus() {
    look
    daemon=$(dbus_daemon_state)
    [ "$(dbus_path_state)" = socket ] && [ "$daemon" = active ] && return
    # Without systemd a socket is all that can be seen.
    [ "$(dbus_path_state)" = socket ] && [ "$systemd" != running ] && return
    clear_dbus_path
    [ -z "$error" ] || return
    [ "$daemon" != missing ] || install_dbus
    [ -z "$error" ] || return
    start_dbus
}

# ---- repair: NRI

# Puts a file in place as a whole, or says why not.
write_file() {
    said_by=$({ mkdir -p "${1%/*}" && printf '%s\n' "$2" >"$1.new" && mv "$1.new" "$1"; } 2>&1) && return
    rm -f "$1.new" 2>/dev/null
    explain "${1#"$root"} cannot be written: $(said "$said_by")"
    return 1
}

# The folder of an import that takes in a file of ours, else none.
imported_folder() {
    imports_of "$config" | while IFS= read -r pattern; do
        [ "${pattern##*/}" != '*.toml' ] || printf '%s\n' "${pattern%/*}"
    done | tail -n 1
}

# The drop-in's content: the section that counts now, switched on, as ours replaces it as a whole.
drop_in() {
    printf '# Written by shoot-gitops (prerequisites.nri: Enable).\nversion = %s\n\n[plugins."%s"]\n  disable = false\n' \
        "$1" "$nri_plugin"
    counts=$(nri_file)
    [ -z "$counts" ] || nri_section "$counts" | grep -v '^disable[[:space:]]*=' | sed 's/^/  /'
}

# A main config that imports our folder: a new one, or the old one with one line more.
with_import() {
    if [ -z "$(config_version)" ]; then
        printf 'version = 2\nimports = ["%s/*.toml"]\n' "$drop_in_folder"
    elif [ -n "$(imports_of "$config")" ] || grep -Eq '^[[:space:]]*imports[[:space:]]*=' "$config"; then
        awk -v pattern="$drop_in_folder/*.toml" '
            !done && /^[ \t]*imports[ \t]*=/ { sub(/\[/, "[\"" pattern "\", "); done = 1 }
            { print }' "$config"
    else
        awk -v pattern="$drop_in_folder/*.toml" '
            { print }
            !done && /^[ \t]*version[ \t]*=/ { print "imports = [\"" pattern "\"]"; done = 1 }' "$config"
    fi
}

restart_containerd() {
    if said_by=$(systemctl restart containerd.service 2>&1); then
        note "restarted containerd"
        : >"$restarted"
    else
        explain "containerd does not restart: $(said "$said_by")"
        return 1
    fi
}

# The drop-in first: until it is imported, nothing is different. A node that ran before runs afterwards.
enable_nri() {
    version=$(config_version)
    folder=$(imported_folder)
    main=
    [ -n "$folder" ] || main=$(with_import)
    folder=${folder:-$drop_in_folder}
    ours=$root$folder/$drop_in_name
    made=
    [ -d "$root$folder" ] || made=$root$folder
    write_file "$ours" "$(drop_in "${version:-2}")" || return
    if [ -n "$main" ]; then
        rm -f "$config.before"
        if [ -e "$config" ] && ! said_by=$(cp -p "$config" "$config.before" 2>&1); then
            explain "/etc/containerd/config.toml cannot be copied: $(said "$said_by")"
        elif write_file "$config" "$main"; then
            note "made /etc/containerd/config.toml import $folder/*.toml"
        fi
    fi
    state=$(nri_state)
    [ "$state" = enabled ] || explain "containerd does not take the drop-in $folder/$drop_in_name: it is $state with it"
    if [ -z "$error" ]; then
        note "wrote $folder/$drop_in_name"
        if restart_containerd; then
            rm -f "$config.before"
            return
        fi
        tried=yes
    fi
    rm -f "$ours"
    [ -z "$made" ] || rmdir "$made"
    if [ -e "$config.before" ]; then
        mv "$config.before" "$config"
    elif [ -n "$main" ]; then
        rm -f "$config"
    fi
    [ -z "${tried:-}" ] || systemctl restart containerd.service >/dev/null 2>&1
    changed=
}

repair_nri() {
    look
    case $(nri_state) in
    enabled)
        [ -S "$nri_socket" ] && return
        # A drop-in of ours that no containerd was started with: an earlier repair was cut off.
        ours=$(nri_file)
        case $ours in
        */"$drop_in_name")
            if [ ! -e "$restarted" ] || [ -n "$(find "$ours" -newer "$restarted")" ]; then
                restart_containerd
            fi
            ;;
        *) ;;
        esac
        ;;
    disabled)
        if [ "$(config_version)" = 1 ]; then
            explain "/etc/containerd/config.toml has version 1, which no drop-in fits: run containerd config migrate"
        elif [ "$systemd" != running ]; then
            explain "systemd does not answer, so containerd could not be restarted"
        else
            enable_nri
        fi
        ;;
    disabled-plugin)
        file=$(disabling_file)
        explain "${file#"$root"} lists $nri_plugin in disabled_plugins, which no drop-in can undo: remove it there"
        ;;
    broken)
        explain "containerd cannot read its configuration: $(said "$(containerd --config "$config" config dump 2>&1)")"
        ;;
    unreadable)
        explain "/etc/containerd/config.toml cannot be read"
        ;;
    *)
        explain "NRI can be enabled for a containerd that tells its version, and this node has $runtime"
        ;;
    esac
    [ -n "$error" ] || wait_for "$nri_socket" ||
        explain "NRI is enabled in containerd's files, and /run/nri/nri.sock does not appear: restart containerd by hand"
}

# ---- main

case ${1:-} in
probe) ;;
repair)
    shift
    for what in "$@"; do
        case $what in
        dbus) repair_dbus ;;
        nri) repair_nri ;;
        *)
            echo "node.sh: cannot repair '$what'" >&2
            exit 64
            ;;
        esac
    done
    ;;
*)
    echo "usage: node.sh probe | repair [dbus] [nri]" >&2
    exit 64
    ;;
esac
report
