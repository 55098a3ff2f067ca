import ErrandEssentials
import ErrandJSONSchema
import ErrandJSONValidation

/// Compares a JSON document with a JSON Schema, or with an example document.
struct ValidateCommand {
    enum Outcome: Int32 {
        case valid = 0
        case invalid = 1
        /// A file can't be read, a schema or example can't be used, a document exceeds the limits, or arguments are
        /// invalid.
        case unusable = 2
    }

    static let usage = """
        usage: errand-validate EXAMPLE.json DOCUMENT.json
               errand-validate --schema SCHEMA.json DOCUMENT.json

        Lists each value in DOCUMENT.json that doesn't match the shape of EXAMPLE.json, or that SCHEMA.json rejects. A
        schema's $schema selects JSON Schema 2020-12, 2019-09 or 7.

          --at POINTER    the schema is at this JSON Pointer in its file: /components/schemas/Order
          --draft DRAFT   the version of a schema without $schema: 7, 2019-09 or 2020-12, which is the default
          --formats       "format" also rejects strings
          --json          prints one JSON object instead of a line for each problem

        One of the files may be - for standard input, and each may be a pipe. A schema that is a file may refer to other
        files in its folder and below. Nothing is fetched from the network.
        Exit status: 0 if the document fits, 1 if it doesn't, 2 if a file can't be read or isn't an example or schema, or
        if the document exceeds a limit before the check ends.
        """

    let arguments: [String]
    /// Receives the findings, one per line.
    var output: (String) -> Void
    var complaint: (String) -> Void

    func run() -> Outcome {
        if arguments == ["--help"] || arguments == ["-h"] {
            output(Self.usage)
            return .valid
        }
        guard let arguments = ValidateArguments(arguments) else {
            complaint(Self.usage)
            return .unusable
        }
        guard let model = model(arguments), let document = read(arguments.document) else { return .unusable }
        do throws(JSONValidationError) { try model.validate(document, limits: .standard) } catch {
            if arguments.printsJSON { output(ValidationReport(error).json) } else { list(error, to: output) }
            return error.verdict == .doesNotFit ? .invalid : .unusable
        }
        if arguments.printsJSON { output(ValidationReport(nil).json) }
        return .valid
    }

    private func model(_ arguments: ValidateArguments) -> (any JSONValidating)? {
        switch arguments.model {
        case .example(let path):
            guard let example = read(path) else { return nil }
            do { return try JSONShape(example: example) } catch {
                complaint("\(path) is not a usable example:")
                list(error, to: complaint)
                return nil
            }
        case .schema(let path):
            guard let schema = read(path) else { return nil }
            let file = path == ValidateInput.standardInput ? nil : URL(filePath: path).standardizedFileURL
            let folder = file?.deletingLastPathComponent().path()
            do {
                return try JSONSchema(
                    schema, at: arguments.pointer, uri: file?.absoluteString ?? "", dialect: arguments.dialect,
                    formats: arguments.formats, resolver: { uri in folder.flatMap { Self.document(uri, in: $0) } })
            } catch {
                complaint("\(path) is not a usable schema:")
                complaint(error.description)
                return nil
            }
        }
    }

    /// Loads a file that a schema refers to, if it is in the schema's folder or below.
    private static func document(_ uri: String, in folder: String) -> Data? {
        guard let file = URL(string: uri)?.standardizedFileURL, file.isFileURL,
            file.resolvingSymlinksInPath().path().hasPrefix(
                URL(filePath: folder, directoryHint: .isDirectory).resolvingSymlinksInPath().path())
        else { return nil }
        return try? Data(contentsOf: file)
    }

    private func read(_ path: String) -> Data? {
        guard let data = ValidateInput.data(at: path) else {
            complaint("\(path) cannot be read")
            return nil
        }
        return data
    }

    private func list(_ error: JSONValidationError, to print: (String) -> Void) {
        for problem in error.problems { print("\(problem)") }
        if error.count > error.problems.count { print("… and \(error.count - error.problems.count) more") }
    }
}
