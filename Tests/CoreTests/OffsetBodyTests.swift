import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Bodies from an offset", .leakChecked) struct OffsetBodyTests {
    private let text = Data("0123456789".utf8)

    private func rest(_ body: RequestBody, _ offset: Int64) async throws -> String {
        String(decoding: try await body.open(at: offset).collect(upTo: 1000), as: UTF8.self)
    }

    private func code(_ body: RequestBody, _ offset: Int64) -> ErrandError.Code? {
        do { _ = try body.open(at: offset) } catch { return (error as? ErrandError)?.code }
        return nil
    }

    @Test("data, files and streams that can be opened anywhere begin at the requested offset")
    func offsets() async throws {
        let folder = try Folder()
        let file = folder.file("a")
        try text.write(to: file)
        let stream = RequestBody.stream(length: 10) { [text] in HTTPBody(text.dropFirst(Int($0))) }
        for body in [.data(text), .file(file), stream] {
            #expect(body.opensAtOffset)
            for offset in 0...10 {
                #expect(try await rest(body, Int64(offset)) == String("0123456789".dropFirst(offset)))
            }
            #expect(code(body, -1) == .invalidRequest)
        }
        #expect(code(.data(text), 11) == .invalidRequest && code(stream, 11) == .invalidRequest)
        #expect(try RequestBody.none.open(at: 0).data == Data())
    }

    @Test("a part of a file doesn't identify the file, which has more bytes")
    func fileName() throws {
        let body = RequestBody.file(URL(filePath: "/a"))
        #expect(try body.open(at: 3).file == nil && body.open(at: 0).file != nil)
    }

    @Test("a body that can only be read from its start reports that, and opens from its start")
    func fromTheStart() async throws {
        let bodies: [RequestBody] = [
            .stream { [text] in HTTPBody(text) }, .prepared { [text] _ in .data(text) }, .json("0123456789"),
        ]
        for body in bodies {
            #expect(!body.opensAtOffset && code(body, 1) == .bodyNotReplayable)
            #expect(try await rest(body, 0).contains("0123456789"))
        }
    }

    @Test("a body that is encoded when its request is built can be opened at any offset afterwards")
    func made() async throws {
        let seen = Log<Bool>()
        let look = ClosureFilter { exchange, next in
            seen.add(exchange.http.body.opensAtOffset)
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), filters: [look])
        _ = try await agent.send(
            Plain {
                $0.method = .post
                $0.body = .json("text")
            })
        #expect(seen.all == [true])
    }
}
