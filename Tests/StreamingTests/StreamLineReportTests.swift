import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandTesting
import Testing

/// Streams that other libraries got wrong. Tests/Lessons.md has the reports.
@Suite("Streams that other libraries got wrong", .endsInTime, .leakChecked)
struct StreamLineReportTests {
    private struct Row: Codable, Equatable, Sendable { let name: String }

    @Test(
        "JSON lines that end within a character throw after the lines before, with the last line's number",
        arguments: [1, 3, 1000])
    func truncatedCharacter(size: Int) async throws {
        let whole = Data(#"{"name":"a"}"#.utf8) + [0x0A] + Data(#"{"name":"中"#.utf8).dropLast()
        let chunks = stride(from: 0, to: whole.count, by: size).map { Data(whole.dropFirst($0).prefix(size)) }
        var rows: [Row] = []
        let error = await #expect(throws: StreamingError.self) {
            for try await row in HTTPBody(chunks: chunks).jsonLines(of: Row.self) { rows.append(row) }
        }
        #expect(rows == [Row(name: "a")] && error?.summary.contains(" 2 ") == true, "\(error?.summary ?? "")")
    }

    @Test("a character that is split between any two chunks is whole in its JSON line")
    func splitCharacters() async throws {
        let bytes = Data("{\"name\":\"中\u{1F600}é\"}\n{\"name\":\"é\"}".utf8)
        for cut in 1..<bytes.count {
            let body = HTTPBody(chunks: [Data(bytes.prefix(cut)), Data(bytes.dropFirst(cut))])
            #expect(try await body.jsonLines(of: Row.self).all().map(\.name) == ["中\u{1F600}é", "é"])
        }
    }
}
