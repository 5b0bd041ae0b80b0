// Package topology stands in for the nested module that the module proxy does not serve.
// Device hints are never found.
package topology

const ProviderKubelet = "kubelet"

type Hint struct{ Provider, CPUs, NUMAs, Sockets string }
type Hints map[string]Hint
type Logger interface {
	Debugf(format string, v ...interface{})
}

func SetSysRoot(string)                                             {}
func SetLogger(l Logger) Logger                                     { return l }
func ResetLogger()                                                  {}
func NewTopologyHints(string) (Hints, error)                        { return Hints{}, nil }
func FindGivenSysFsDevice(string, int64, int64) (string, error)     { return "", nil }
func (h *Hint) String() string                                      { return h.CPUs }
func (hints Hints) ResolvePartialHints(resolve func(string) string) {}
func MergeTopologyHints(org, hints Hints) Hints {
	out := Hints{}
	for k, v := range org {
		out[k] = v
	}
	for k, v := range hints {
		out[k] = v
	}
	return out
}
func FindSysFsDevice(string) (string, error) { return "", nil }
