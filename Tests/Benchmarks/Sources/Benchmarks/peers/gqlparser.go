// Measures the same work in gqlparser, the parser and validator of gqlgen. Prints a line `name nanoseconds` for each
// measurement. The argument is a folder with `schema.graphql`, and a file for each document. gqlgen generates its executor from
// a schema, so execution is not measured.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vektah/gqlparser"
	"github.com/vektah/gqlparser/ast"
	"github.com/vektah/gqlparser/parser"
	"github.com/vektah/gqlparser/validator"
)

func measure(name string, work func()) {
	end := time.Now().Add(3 * time.Second)
	best := time.Hour
	for sample := 0; sample < 300 && (sample < 15 || time.Now().Before(end)); sample++ {
		start := time.Now()
		work()
		if time := time.Since(start); time < best {
			best = time
		}
	}
	fmt.Println(name, best.Nanoseconds())
}

func check(ok bool, message any) {
	if !ok {
		panic(message)
	}
}

func main() {
	folder := os.Args[1]
	text, err := os.ReadFile(filepath.Join(folder, "schema.graphql"))
	check(err == nil, err)
	schema, problem := gqlparser.LoadSchema(&ast.Source{Input: string(text)})
	check(problem == nil, problem)
	paths, _ := filepath.Glob(filepath.Join(folder, "*.document"))
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".document")
		text, err := os.ReadFile(path)
		check(err == nil, err)
		source := &ast.Source{Input: string(text)}
		document, problem := parser.ParseQuery(source)
		check(problem == nil, problem)
		if problems := validator.Validate(schema, document); len(problems) > 0 {
			fmt.Fprintln(os.Stderr, name, problems[0])
			continue
		}
		measure("parse "+name, func() { parser.ParseQuery(source) })
		measure("validate "+name, func() { validator.Validate(schema, document) })
	}
}
