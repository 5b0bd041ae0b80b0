// Answers questions about image vectors with Gardener's own code: one JSON object per line in, one per line out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/utils/imagevector"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
)

type query struct {
	Name    string  `json:"name"`
	Runtime *string `json:"runtime"`
	Target  *string `json:"target"`
	Arch    *string `json:"arch"`
}

type question struct {
	Op string `json:"op"`

	// constraint
	Constraint string   `json:"constraint"`
	Versions   []string `json:"versions"`

	// read, find
	Base      string  `json:"base"`
	Overwrite string  `json:"overwrite"`
	Queries   []query `json:"queries"`

	// components
	Components string `json:"components"`

	// render
	Templates map[string]string `json:"templates"`
	Values    map[string]any    `json:"values"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer, err := answered(asked)
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		line, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(out, string(line))
		out.Flush()
	}
}

func answered(asked question) (any, error) {
	switch asked.Op {
	case "constraint":
		return constraint(asked)
	case "read":
		vector, bundle, err := imagevector.Read([]byte(asked.Base))
		return map[string]any{"images": vector, "caBundle": bundle}, err
	case "find":
		return find(asked)
	case "components":
		components, err := imagevector.ReadComponentOverwrite([]byte(asked.Components))
		return map[string]any{"components": components}, err
	case "render":
		return render(asked)
	}
	return nil, fmt.Errorf("unknown op %q", asked.Op)
}

// constraint checks each version; null stands for a version that cannot be parsed.
func constraint(asked question) (any, error) {
	parsed, err := semver.NewConstraint(asked.Constraint)
	if err != nil {
		return nil, err
	}
	matches := make([]*bool, len(asked.Versions))
	for i, text := range asked.Versions {
		if version, err := semver.NewVersion(text); err == nil {
			match := parsed.Check(version)
			matches[i] = &match
		}
	}
	return map[string]any{"matches": matches}, nil
}

// find merges the overwrite into the base and looks every query up; null stands for an image that is not found.
func find(asked question) (any, error) {
	merged, _, err := imagevector.Read([]byte(asked.Base))
	if err != nil {
		return nil, err
	}
	if asked.Overwrite != "" {
		overwrite, _, err := imagevector.Read([]byte(asked.Overwrite))
		if err != nil {
			return nil, err
		}
		merged = imagevector.MergeImageVectors(merged, overwrite)
	}
	found := make([]any, len(asked.Queries))
	for i, query := range asked.Queries {
		var options []imagevector.FindOptionFunc
		if query.Runtime != nil {
			options = append(options, imagevector.RuntimeVersion(*query.Runtime))
		}
		if query.Target != nil {
			options = append(options, imagevector.TargetVersion(*query.Target))
		}
		if query.Arch != nil {
			options = append(options, imagevector.Architecture(*query.Arch))
		}
		if image, err := merged.FindImage(query.Name, options...); err == nil {
			found[i] = map[string]any{"image": image.String(), "version": image.Version}
		}
	}
	return map[string]any{"merged": merged, "found": found}, nil
}

// render renders the templates of a chart as Helm does, by the version of it that Gardener uses.
func render(asked question) (any, error) {
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "chart", Version: "0.1.0"}}
	for name, text := range asked.Templates {
		chart.Templates = append(chart.Templates, &common.File{Name: "templates/" + name, Data: []byte(text)})
	}
	release := common.ReleaseOptions{Name: "release", Namespace: "garden"}
	values, err := commonutil.ToRenderValues(chart, asked.Values, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := (engine.Engine{}).Render(chart, values)
	return map[string]any{"files": files}, err
}
