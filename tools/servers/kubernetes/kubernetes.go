// Package kubernetes checks what crosstalk writes for Kubernetes against its own types: see the tests.
package kubernetes
