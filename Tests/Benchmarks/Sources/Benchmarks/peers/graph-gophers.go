// Measures the same work in graph-gophers/graphql-go. Prints a line `name nanoseconds` for each measurement. The argument is a
// folder with `schema.graphql`, a file for each document, and `items.graphql` to execute. The library validates only texts, so
// validation contains the parsing.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	graphql "github.com/graph-gophers/graphql-go"
)

type item struct {
	ID          graphql.ID
	Title       string
	Author      *string
	Pages       int32
	CurrentPage *int32
	Rating      *float64
	IsRead      bool
	Genre       *string
	AddedAt     string
	Position    int32
}

type query struct{ items []item }

func (query *query) Items() []item { return query.items }

func makeItems() []item {
	items := make([]item, 10_000)
	for index := range items {
		rating, genre := float64(index%50)/10, "Science Fiction"
		items[index] = item{
			ID: graphql.ID(fmt.Sprintf("item-%d", index)), Title: fmt.Sprintf("The title of book number %d", index),
			Pages: int32(100 + index%900), Rating: &rating, IsRead: index%2 == 0, Genre: &genre,
			AddedAt: "2026-01-14T09:30:00Z", Position: int32(index),
		}
		if index%7 != 0 {
			author := fmt.Sprintf("Author %d", index%500)
			items[index].Author = &author
		}
		if index%3 == 0 {
			page := int32(index % 100)
			items[index].CurrentPage = &page
		}
	}
	return items
}

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

func read(folder string, name string) string {
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		panic(err)
	}
	return string(text)
}

func main() {
	folder := os.Args[1]
	text := read(folder, "schema.graphql")
	schema := graphql.MustParseSchema(text, nil)
	paths, _ := filepath.Glob(filepath.Join(folder, "*.document"))
	variables := map[string]any{"id": "1"}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".document")
		text := read(folder, filepath.Base(path))
		if errors := schema.ValidateWithVariables(text, variables); len(errors) > 0 {
			fmt.Fprintln(os.Stderr, name, errors[0])
			continue
		}
		measure("parse and validate "+name, func() { schema.ValidateWithVariables(text, variables) })
	}
	// Every field of a type in the schema needs a resolver, so this schema has only the items.
	start := strings.Index(text, "type Item {")
	executable := graphql.MustParseSchema(
		"type Query { items: [Item!]! }\n"+text[start:], &query{makeItems()}, graphql.UseFieldResolvers())
	document := read(folder, "items.graphql")
	measure("execute items", func() {
		response := executable.Exec(context.Background(), document, "", nil)
		if len(response.Errors) > 0 {
			panic(response.Errors[0])
		}
		if _, err := json.Marshal(response); err != nil {
			panic(err)
		}
	})
}
