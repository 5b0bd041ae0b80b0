// Command balloonsoracle asks the real plugins, balloons and topology-aware, whether they accept a policy on a machine.
//
// It reads one JSON document a line from standard input,
//
//	{"kind": "BalloonsPolicy", "spec": BalloonsPolicySpec, "machine": {"packages": 2, "nodes": 2, "cores": 2, "threads": 2, "memory": bytes}}
//
// and answers each with {"accepted": bool, "stage": "decode|validate|setup", "error": "..."}.
// nodes is per package, cores per node, threads per core; "isolated" lists isolated CPUs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	balloons "github.com/containers/nri-plugins/cmd/plugins/balloons/policy"
	topologyaware "github.com/containers/nri-plugins/cmd/plugins/topology-aware/policy"
	cfgapi "github.com/containers/nri-plugins/pkg/apis/config/v1alpha1"
	"github.com/containers/nri-plugins/pkg/irq"
	"github.com/containers/nri-plugins/pkg/resmgr/cache"
	"github.com/containers/nri-plugins/pkg/resmgr/policy"
	"github.com/containers/nri-plugins/pkg/sysfs"
)

type machine struct {
	Packages, Nodes, Cores, Threads int
	Memory                          int64
	Isolated                        string
}
type question struct {
	Kind    string          `json:"kind"`
	Spec    json.RawMessage `json:"spec"`
	Machine machine         `json:"machine"`
}
type answer struct {
	Accepted bool   `json:"accepted"`
	Stage    string `json:"stage,omitempty"`
	Error    string `json:"error,omitempty"`
}

const interrupts = `           CPU0       CPU1
  1:          0          0  IR-IO-APIC    1-edge      i8042
 16:          0          0  IR-IO-APIC   16-fasteoi   i801_smbus
 24:          0          0  PCI-MSI 524288-edge      nvme0/q0`

// roots holds the file system of each machine that was asked about.
var roots = map[machine]string{}

func rootOf(m machine) (string, error) {
	if root, ok := roots[m]; ok {
		return root, nil
	}
	root, err := os.MkdirTemp("", "balloons-oracle")
	if err != nil {
		return "", err
	}
	fakeSys(root, m)
	roots[m] = root
	return root, nil
}

func write(path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
		panic(err)
	}
}

func fakeSys(root string, m machine) {
	cpus := m.Packages * m.Nodes * m.Cores * m.Threads
	all := fmt.Sprintf("0-%d", cpus-1)
	base := filepath.Join(root, "sys/devices/system/cpu")
	for _, f := range []string{"possible", "present", "online"} {
		write(filepath.Join(base, f), all)
	}
	write(filepath.Join(base, "isolated"), m.Isolated)
	write(filepath.Join(root, "proc/interrupts"), interrupts)
	nodes := m.Packages * m.Nodes
	nb := filepath.Join(root, "sys/devices/system/node")
	ids := fmt.Sprintf("0-%d", nodes-1)
	for _, f := range []string{"online", "has_memory", "has_normal_memory"} {
		write(filepath.Join(nb, f), ids)
	}
	perNode := m.Cores * m.Threads
	for n := 0; n < nodes; n++ {
		d := filepath.Join(nb, fmt.Sprintf("node%d", n))
		write(filepath.Join(d, "cpulist"), fmt.Sprintf("%d-%d", n*perNode, (n+1)*perNode-1))
		dist := []string{}
		for o := 0; o < nodes; o++ {
			switch {
			case o == n:
				dist = append(dist, "10")
			case o/m.Nodes == n/m.Nodes:
				dist = append(dist, "11")
			default:
				dist = append(dist, "21")
			}
		}
		write(filepath.Join(d, "distance"), strings.Join(dist, " "))
		kb := m.Memory / int64(nodes) / 1024
		write(filepath.Join(d, "meminfo"), fmt.Sprintf("Node %d MemTotal: %d kB\nNode %d MemFree: %d kB\nNode %d MemUsed: 0 kB", n, kb, n, kb, n))
	}
	for c := 0; c < cpus; c++ {
		d := filepath.Join(base, fmt.Sprintf("cpu%d", c))
		core := c / m.Threads
		node := c / perNode
		pkg := node / m.Nodes
		first := core * m.Threads
		sib := fmt.Sprint(first)
		if m.Threads > 1 {
			sib = fmt.Sprintf("%d-%d", first, first+m.Threads-1)
		}
		write(filepath.Join(d, "topology/physical_package_id"), fmt.Sprint(pkg))
		write(filepath.Join(d, "topology/die_id"), "0")
		write(filepath.Join(d, "topology/cluster_id"), "0")
		write(filepath.Join(d, "topology/core_id"), fmt.Sprint(core))
		write(filepath.Join(d, "topology/core_cpus_list"), sib)
		write(filepath.Join(d, "topology/thread_siblings_list"), sib)
		if err := os.MkdirAll(filepath.Join(d, fmt.Sprintf("node%d", node)), 0o755); err != nil {
			panic(err)
		}
		for i, l := range []struct{ level, kind, list string }{{"1", "Data", sib}, {"1", "Instruction", sib}, {"2", "Unified", sib}, {"3", "Unified", fmt.Sprintf("%d-%d", node*perNode, (node+1)*perNode-1)}} {
			cd := filepath.Join(d, fmt.Sprintf("cache/index%d", i))
			write(filepath.Join(cd, "level"), l.level)
			write(filepath.Join(cd, "type"), l.kind)
			write(filepath.Join(cd, "shared_cpu_list"), l.list)
			write(filepath.Join(cd, "size"), "1024K")
			id := core
			if l.level == "3" {
				id = node
			}
			write(filepath.Join(cd, "id"), fmt.Sprint(id))
		}
	}
}

// resource is a policy of either kind.
type resource interface {
	Validate() error
	PolicyConfig() interface{}
}

func ask(q question) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Stage: "panic", Error: fmt.Sprint(r)}
		}
	}()
	cfg, backend := resource(&cfgapi.BalloonsPolicy{}), balloons.New()
	if q.Kind == "TopologyAwarePolicy" {
		cfg, backend = &cfgapi.TopologyAwarePolicy{}, topologyaware.New()
	}
	if err := json.Unmarshal([]byte(`{"spec":`+string(q.Spec)+`}`), cfg); err != nil {
		return answer{Stage: "decode", Error: err.Error()}
	}
	root, err := rootOf(q.Machine)
	if err != nil {
		panic(err)
	}
	sysfs.SetSysRoot(root)
	irq.SetProcRoot(root)
	if err := cfg.Validate(); err != nil {
		return answer{Stage: "validate", Error: err.Error()}
	}
	sys, err := sysfs.DiscoverSystem()
	if err != nil {
		return answer{Stage: "machine", Error: err.Error()}
	}
	if err := os.RemoveAll(filepath.Join(root, "cache")); err != nil {
		panic(err)
	}
	cch, err := cache.NewCache(cache.Options{CacheDir: filepath.Join(root, "cache")})
	if err != nil {
		return answer{Stage: "machine", Error: err.Error()}
	}
	// PolicyConfig is what the resource manager asks for: control.cpu.classes become cpuClasses.
	options := &policy.BackendOptions{System: sys, Cache: cch, Config: cfg.PolicyConfig()}
	if err := backend.Setup(options); err != nil {
		return answer{Stage: "setup", Error: err.Error()}
	}
	return answer{Accepted: true}
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	defer func() {
		for _, root := range roots {
			os.RemoveAll(root)
		}
	}()
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if err := out.Encode(ask(q)); err != nil {
			os.Exit(2)
		}
	}
}
