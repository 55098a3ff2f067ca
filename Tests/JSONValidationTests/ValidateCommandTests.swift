import Foundation
import Testing

@testable import errand_validate

@Suite("errand-validate", .timeLimit(.minutes(10)), .leakChecked)
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

    @Test("a document that fits")
    func valid() throws {
        let folder = try folder()
        let result = run([folder.path("example.json"), folder.path("right.json")])
        #expect(result.0 == .valid && result.output.isEmpty && result.complaints.isEmpty)
    }

    @Test("a document that does not fit is explained, a line for each problem")
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

    @Test("what cannot be used")
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

    #if os(Linux) || os(macOS)
    @Test(
        "the process has the exit status 0, 1 or 2",
        arguments: [("right.json", 0), ("wrong.json", 1), ("none.json", 2)] as [(String, Int32)])
    func process(document: String, status: Int32) async throws {
        let folder = try folder()
        let program = try Program(built: "errand-validate")
        let result = try await program.run([folder.path("example.json"), folder.path(document)])
        #expect(!result.wasKilled && result.status == status)
        #expect(result.text.isEmpty == (status != 1) && result.complaint.isEmpty == (status != 2))
    }
    #endif
}
