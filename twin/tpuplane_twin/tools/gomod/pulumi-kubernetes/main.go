// Pulumi's provider for Kubernetes. The main package of its module embeds files that its releases generate, and that
// the module lacks. This one reads the sources of those files, which the tool cache keeps next to the program.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

func read(name string) []byte {
	program, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	folder := filepath.Join(filepath.Dir(program), "..", "module", "cmd", "pulumi-resource-kubernetes")
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		log.Fatal(err)
	}
	return content
}

func main() {
	// The engine warns about a provider older than the SDK that the program uses.
	provider.Serve("kubernetes", os.Getenv("TPUPLANE_SDK_VERSION"), read("schema.json"), read("terraform-mapping.json"))
}
