import ErrandJSONValidation
import ErrandMessageSyntax

extension SchemaRegistry {
    /// The schema that a reference leads to, from the resource that the reference is in, and the name of its anchor.
    func resolve(
        _ reference: String, from resource: Int, at location: SchemaLocation
    ) throws(JSONSchemaError) -> (location: SchemaLocation, anchor: String?) {
        // One within the resource needs no URI.
        let isLocal = reference.isEmpty || reference.hasPrefix("#")
        let base = isLocal ? "" : resources[resource].uri
        try spend(steps: 20 + reference.utf8.count + base.utf8.count * 4, at: location)
        let (uri, fragment) =
            isLocal ? ("", String(reference.dropFirst())) : URIReference.resolve(reference, against: base)
        func missing(_ why: String) -> JSONSchemaError {
            fault(.unresolvedReference, location, "\(MessageText.shown(reference, limit: 200)) \(why)")
        }
        let target: Int
        if isLocal {
            target = resource
        } else {
            guard let found = try load(uri, location, code: .unresolvedReference) else {
                throw missing("leads to a document that is not known: \(MessageText.shown(uri, limit: 200))")
            }
            target = found
        }
        guard let fragment, !fragment.isEmpty else { return (try visited(resources[target].root, location), nil) }
        guard let bytes = PercentEncoding.bytes(fragment) else { throw missing("has a broken percent-encoding") }
        if fragment.hasPrefix("/") {
            let root = resources[target].root
            guard let value = documents[root.document].find(bytes, from: root.value) else {
                throw missing("leads to nothing")
            }
            return (try visited(SchemaLocation(document: root.document, value: value), location), nil)
        }
        let name = String(decoding: bytes, as: UTF8.self)
        guard let found = resources[target].anchors[name] else { throw missing("leads to no anchor") }
        return (found, name)
    }

    /// A place that is known as a schema, also one within a keyword that is not.
    func visited(_ location: SchemaLocation, _ origin: SchemaLocation) throws(JSONSchemaError) -> SchemaLocation {
        if locations[location] != nil { return location }
        let values = documents[location.document].values
        switch values[location.value].kind {
        case .object, .true, .false: break
        default: throw fault(.unresolvedReference, origin, "leads to a value that is not a schema")
        }
        var outer = values[location.value].parent
        while outer >= 0, locations[SchemaLocation(document: location.document, value: outer)] == nil {
            outer = values[outer].parent
        }
        let resource = outer < 0 ? nil : locations[SchemaLocation(document: location.document, value: outer)]
        try walk(location, resource ?? rootResources[location.document], isLenient: false)
        return location
    }

    /// All schemas that were visited in a document.
    func schemas(of document: Int) -> [SchemaLocation] {
        locations.keys.filter { $0.document == document }.sorted { $0.value < $1.value }
    }
}
