import ErrandJSONSchema

/// The parsed command line.
struct ValidateArguments {
    /// The model that the document is compared with.
    enum Model {
        case example(String)
        case schema(String)
    }

    var model: Model
    var document: String
    var pointer = ""
    var dialect = JSONSchemaDialect.draft2020_12
    var formats = JSONSchemaFormats.annotation
    var printsJSON = false

    /// Returns nil for invalid arguments.
    init?(_ arguments: [String]) {
        var (files, schema): ([String], String?) = ([], nil)
        var hasSchemaOptions = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--schema":
                guard schema == nil, let file = rest.popFirst() else { return nil }
                schema = file
            case "--at":
                guard let pointer = rest.popFirst() else { return nil }
                self.pointer = pointer
                hasSchemaOptions = true
            case "--draft":
                guard let name = rest.popFirst(), let dialect = Self.dialects[name] else { return nil }
                self.dialect = dialect
                hasSchemaOptions = true
            case "--formats":
                formats = .assertion
                hasSchemaOptions = true
            case "--json": printsJSON = true
            default:
                if argument.hasPrefix("-"), argument != ValidateInput.standardInput { return nil }
                files.append(argument)
            }
        }
        guard (files + [schema].compactMap(\.self)).count(where: { $0 == ValidateInput.standardInput }) < 2 else {
            return nil
        }
        if let schema {
            guard files.count == 1 else { return nil }
            (model, document) = (.schema(schema), files[0])
        } else {
            guard files.count == 2, !hasSchemaOptions else { return nil }
            (model, document) = (.example(files[0]), files[1])
        }
    }

    private static let dialects: [String: JSONSchemaDialect] = [
        "7": .draft7, "2019-09": .draft2019_09, "2020-12": .draft2020_12,
    ]
}
