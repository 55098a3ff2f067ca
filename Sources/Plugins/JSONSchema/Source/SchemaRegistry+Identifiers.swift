import ErrandJSONSyntax
import ErrandJSONValidation
import ErrandMessageSyntax

extension SchemaRegistry {
    /// Reads `$id`, `$anchor` and the like; returns the resource that the schema belongs to.
    func identify(_ location: SchemaLocation, _ outer: Int) throws(JSONSchemaError) -> Int {
        let document = documents[location.document]
        var resource = outer
        var draft = resources[outer].vocabulary.draft
        let isRoot = resources[outer].root == location
        // Beside $ref in draft 7 it means nothing.
        if let value = document.member(location.value, "$id"),
            draft != .draft7 || document.member(location.value, "$ref") == nil
        {
            let here = SchemaLocation(document: location.document, value: value)
            guard let text = document.string(value) else { throw fault(.invalidKeyword, here, "expected a string") }
            try spend(steps: (text.utf8.count + resources[outer].uri.utf8.count) * 4, at: here)
            let (uri, fragment) = URIReference.resolve(text, against: resources[outer].uri)
            if let fragment, !fragment.isEmpty {
                if draft != .draft7 { throw fault(.invalidKeyword, here, "expected a URI without a fragment") }
                resources[outer].anchors[fragment] = location
            }
            if !text.hasPrefix("#"), !(isRoot && uri == resources[outer].uri) {
                if isRoot {
                    resources[outer].uri = uri
                    if byURI[uri] == nil { byURI[uri] = outer }
                } else {
                    let vocabulary = try vocabulary(of: location) ?? resources[outer].vocabulary
                    draft = vocabulary.draft
                    if let known = byURI[uri], resources[known].root != location,
                        resources[known].root.document == location.document
                    {
                        throw fault(.invalidKeyword, here, "another schema has this URI")
                    }
                    resource = try makeResource(uri, location, vocabulary)
                }
            }
        }
        if draft == .draft7 { return resource }
        for (keyword, isDynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
            if isDynamic, draft != .draft2020_12 { continue }
            guard let value = document.member(location.value, keyword) else { continue }
            let here = SchemaLocation(document: location.document, value: value)
            guard let name = document.string(value), Self.isAnchor(name) else {
                throw fault(.invalidKeyword, here, "expected a name of letters, digits, \"-\", \"_\" and \".\"")
            }
            if let other = resources[resource].anchors[name], other != location {
                throw fault(.invalidKeyword, here, "another schema of this resource has this anchor")
            }
            try spend(steps: 4, bytes: 128 + name.utf8.count, at: here)
            resources[resource].anchors[name] = location
            if isDynamic { resources[resource].dynamicAnchors[name] = location }
        }
        if draft == .draft2019_09, let value = document.member(location.value, "$recursiveAnchor") {
            guard document.values[value].kind == .true || document.values[value].kind == .false else {
                throw fault(
                    .invalidKeyword, SchemaLocation(document: location.document, value: value), "expected a boolean")
            }
            if document.values[value].kind == .true, resources[resource].root == location {
                resources[resource].dynamicAnchors[Self.recursiveAnchor] = location
            }
        }
        return resource
    }

    private static func isAnchor(_ name: String) -> Bool {
        var bytes = name.utf8.makeIterator()
        guard let first = bytes.next(), ASCII.isLetter(first) || first == 0x5F else { return false }
        while let byte = bytes.next() {
            guard ASCII.isLetter(byte) || JSONGrammar.isDigit(byte) || byte == 0x2D || byte == 0x5F || byte == 0x2E
            else {
                return false
            }
        }
        return true
    }
}
