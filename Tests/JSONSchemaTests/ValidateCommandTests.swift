import Foundation
import Testing

@testable import errand_validate

@Suite("errand-validate", .endsInTime, .leakChecked)
struct ValidateCommandTests {
    private func folder() throws -> Folder {
        try Folder([
            "example.json": #"[{"id":1,"name":"Ada"}]"#, "right.json": #"[{"id":2,"name":"Bob"}]"#,
            "wrong.json": #"[{"id":"2"}]"#, "broken.json": "[1",
            "many.json": "[\(Array(repeating: "1", count: 50).joined(separator: ","))]",
        ])
    }

    private func run(_ arguments: [String]) -> (ValidateCommand.Outcome, output: [String], complaints: [String]) {
        var (output, complaints): ([String], [String]) = ([], [])
        let outcome = withoutActuallyEscaping({ output.append($0) }) { print in
            withoutActuallyEscaping({ complaints.append($0) }) { complain in
                ValidateCommand(arguments: arguments, output: print, complaint: complain).run()
            }
        }
        return (outcome, output, complaints)
    }

    @Test("a valid document is accepted")
    func valid() throws {
        let folder = try folder()
        let result = run([folder.path("example.json"), folder.path("right.json")])
        #expect(result.0 == .valid && result.output.isEmpty && result.complaints.isEmpty)
    }

    @Test("an invalid document is explained, with a line for each problem")
    func invalid() throws {
        let folder = try folder()
        let result = run([folder.path("example.json"), folder.path("wrong.json")])
        #expect(result.0 == .invalid)
        #expect(
            result.output == [
                "/0/id: expected an integer, found a string (byte 7)", "/0/name: missing, expected a string",
            ])
        #expect(run([folder.path("example.json"), folder.path("broken.json")]).0 == .invalid)
        #expect(run([folder.path("example.json"), folder.path("many.json")]).output.last == "… and 30 more")
    }

    @Test("unusable arguments and files are reported")
    func unusable() throws {
        let folder = try folder()
        let (example, right) = (folder.path("example.json"), folder.path("right.json"))
        for arguments in [
            [], [example], [example, right, right], ["--strict", right], [example, folder.path("none.json")],
            [folder.path("broken.json"), right],
        ] {
            let result = run(arguments)
            #expect(result.0 == .unusable && result.output.isEmpty && !result.complaints.isEmpty, "\(arguments)")
        }
        #expect(run(["--help"]).output.first?.hasPrefix("usage: errand-validate EXAMPLE.json DOCUMENT.json") == true)
    }

    @Test("a schema can have a dialect, a position in its file, formats, and referenced files")
    func schema() throws {
        let folder = try Folder([
            "schema.json": #"{"items": {"$ref": "item.json"}}"#,
            "item.json": #"{"required": ["id"], "properties": {"mail": {"format": "email"}}}"#,
            "outside.json": #"{"$ref": "../../../../../../../../etc/hostname"}"#,
            "api.json": #"{"components": {"schemas": {"Id": {"type": "integer"}}}}"#,
            "old.json": #"{"items": [{"type": "null"}]}"#, "wrong.json": #"{"type": "nul"}"#,
            "good.json": #"[{"id": 1}]"#, "bad.json": #"[{}, {"id": 1, "mail": "x"}]"#, "seven.json": "7",
        ])
        func run(_ arguments: String...) -> (ValidateCommand.Outcome, output: [String], complaints: [String]) {
            self.run(arguments.map { $0.hasSuffix(".json") ? folder.path($0) : $0 })
        }
        #expect(run("--schema", "schema.json", "good.json").0 == .valid)
        let found = run("--schema", "schema.json", "bad.json", "--formats")
        #expect(found.0 == .invalid && found.output.count == 2)
        #expect(found.output[0].hasPrefix("/0/id: missing, expected a value, by file://"))
        #expect(found.output[0].hasSuffix("item.json#/required") && found.output[1].hasPrefix("/1/mail: "))
        #expect(run("--schema", "schema.json", "bad.json").output.count == 1)
        #expect(run("--schema", "api.json", "--at", "/components/schemas/Id", "seven.json").0 == .valid)
        #expect(run("--schema", "api.json", "--at", "/components/schemas/Id", "good.json").0 == .invalid)
        #expect(run("--draft", "7", "--schema", "old.json", "good.json").0 == .invalid)
        for unusable in [
            run("--schema", "old.json", "good.json"), run("--schema", "wrong.json", "good.json"),
            run("--schema", "outside.json", "good.json"),
        ] { #expect(unusable.0 == .unusable && unusable.complaints.count == 2 && unusable.output.isEmpty) }
        let missing = run("--schema", "none.json", "good.json")
        #expect(missing.0 == .unusable && missing.complaints == ["\(folder.path("none.json")) cannot be read"])
        #expect(
            run("--schema", "wrong.json", "good.json").complaints[1].hasSuffix("#/type: expected the name of a type"))
        for wrong in [
            run("--schema", "schema.json"), run("--schema"), run("--draft", "8", "--schema", "old.json", "good.json"),
            run("--at", "/a", "good.json", "good.json"), run("--schema", "a.json", "--schema", "b.json", "good.json"),
            run("-", "-"), run("--schema", "-", "-"),
        ] { #expect(wrong.0 == .unusable && wrong.complaints == [ValidateCommand.usage]) }
    }

    @Test("problems can be printed as JSON")
    func json() throws {
        struct Report: Decodable {
            struct Problem: Decodable {
                let instanceLocation, error: String
                let absoluteKeywordLocation: String?
                let offset: Int
            }
            let valid: Bool
            let count: Int
            let errors: [Problem]
        }
        let folder = try Folder([
            "schema.json": #"{"items": {"type": "null"}}"#, "bad.json": #"[null, 3]"#, "good.json": "[]",
        ])
        let bad = run(["--json", "--schema", folder.path("schema.json"), folder.path("bad.json")])
        let report = try JSONDecoder().decode(Report.self, from: Data((bad.output.first ?? "").utf8))
        #expect(bad.0 == .invalid && bad.output.count == 1 && !report.valid && report.count == 1)
        #expect(report.errors.first?.instanceLocation == "/1" && report.errors.first?.offset == 7)
        #expect(report.errors.first?.absoluteKeywordLocation?.hasSuffix("schema.json#/items/type") == true)
        #expect(report.errors.first?.error == "expected null, found a number")
        let good = run(["--schema", folder.path("schema.json"), folder.path("good.json"), "--json"])
        #expect(good.0 == .valid && good.output == [#"{"count":0,"errors":[],"valid":true}"#])
        let example = run(["--json", folder.path("good.json"), folder.path("schema.json")])
        #expect(example.0 == .invalid && example.output.first?.contains("absoluteKeywordLocation") == false)
    }

    #if os(Linux) || os(macOS)
    @Test(
        "the exit status is 0, 1 or 2",
        arguments: [("right.json", 0), ("wrong.json", 1), ("none.json", 2)] as [(String, Int32)])
    func process(document: String, status: Int32) async throws {
        let folder = try folder()
        let program = try Program(built: "errand-validate")
        let result = try await program.run([folder.path("example.json"), folder.path(document)])
        #expect(!result.wasKilled && result.status == status)
        #expect(result.text.isEmpty == (status != 1) && result.complaint.isEmpty == (status != 2))
    }

    @Test("`-` is standard input, for a document, an example or a schema")
    func standardInput() async throws {
        let folder = try folder()
        let program = try Program(built: "errand-validate")
        let (example, wrong) = (folder.path("example.json"), folder.path("wrong.json"))
        #expect(try await program.run([example, "-"], input: wrong).status == 1)
        #expect(try await program.run(["-", folder.path("right.json")], input: example).status == 0)
        let schema = try Folder(["schema.json": #"{"items": {"properties": {"id": {"type": "string"}}}}"#])
        let result = try await program.run(
            ["--schema", "-", folder.path("right.json")], input: schema.path("schema.json"))
        #expect(result.status == 1)
        #expect(result.text == "/0/id: expected a string, found a number (byte 7), by #/items/properties/id/type\n")
    }

    @Test("a pipe is read completely")
    func pipe() async throws {
        let folder = try folder()
        let shell = try #require(Program("sh"))
        let validate = try Program(built: "errand-validate").path
        let script = #"{ printf '[{"id":3'; printf ',"name":"Eve"}]'; } | "$0" "$1" /dev/stdin"#
        #expect(try await shell.run(["-c", script, validate, folder.path("example.json")]).status == 0)
    }
    #endif
}
