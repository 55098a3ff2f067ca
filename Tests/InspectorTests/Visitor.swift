import ErrandEssentials
import ErrandPlatform
import ErrandSupport
import Foundation
import Testing

@testable import ErrandInspector

/// A program that talks to an inspector over a socket, byte by byte. Closes it with the last reference.
final class Visitor {
    let socket: Int32
    private(set) var received: [UInt8] = []

    init(port: UInt16) throws {
        socket = ErrandSupport.socket(AF_INET, LoopbackSocket.streamType, 0)
        var address = LoopbackSocket.address(LoopbackSocket.host, port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, length) == 0 }
        }
        guard isConnected else {
            LoopbackSocket.end(socket)
            throw Refused()
        }
        LoopbackSocket.prepareForWriting(socket)
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    }

    struct Refused: Error {}

    deinit { LoopbackSocket.end(socket) }

    /// Sends everything, or as much as the server takes before it closes the connection.
    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            switch LoopbackSocket.send(socket, bytes, from: sent) {
            case .bytes(let count): sent += count
            case .wouldBlock: wait(forInput: false)
            case .end, .failed: return
            }
        }
    }

    private func wait(forInput: Bool, milliseconds: Int32 = 60_000) {
        var polled = [pollfd(fd: socket, events: Int16(forInput ? POLLIN : POLLOUT), revents: 0)]
        LoopbackSocket.wait(&polled, milliseconds: milliseconds)
    }

    /// Returns false at the end of the connection.
    @discardableResult
    func receive(milliseconds: Int32 = 60_000) -> Bool {
        wait(forInput: true, milliseconds: milliseconds)
        switch LoopbackSocket.receive(socket, into: &received, limit: 64 << 10) {
        case .bytes, .wouldBlock: return true
        case .end, .failed: return false
        }
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Returns the next response, and leaves what follows it.
    func response() throws -> Reply {
        while true {
            if let end = text.range(of: "\r\n\r\n") {
                let head = String(text[..<end.lowerBound])
                let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
                let start = head.utf8.count + 4
                while received.count < start + length { guard receive() else { throw Refused() } }
                let body = Array(received[start..<(start + length)])
                received.removeFirst(start + length)
                return Reply(head: head, body: body)
            }
            guard receive() else { throw Refused() }
        }
    }

    func isClosed() -> Bool {
        while receive() {}
        return true
    }
}

struct Reply {
    let head: String
    let body: [UInt8]

    var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }
    var text: String { String(decoding: body, as: UTF8.self) }

    func field(_ name: String) -> String? {
        head.split(separator: "\r\n").dropFirst().first { $0.lowercased().hasPrefix("\(name.lowercased()):") }
            .map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
    }
}

/// A started inspector, and a browser that has its cookie.
struct Visit {
    let inspector: TrafficInspector
    let port: UInt16
    let token: String
    let cookie: String

    init(_ inspector: TrafficInspector = TrafficInspector()) throws {
        self.inspector = inspector
        let address = try inspector.start(inReleaseBuilds: true) { _ in }
        port = UInt16(try #require(address.port))
        token = String(address.absoluteString.split(separator: "=")[1])
        let visitor = try Visitor(port: port)
        visitor.send("GET /?token=\(token) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        let reply = try visitor.response()
        cookie = String(try #require(reply.field("set-cookie")).prefix { $0 != ";" })
    }

    /// Sends a request of the page, with additional or replaced fields. An empty value removes a field.
    func request(
        _ method: String = "GET", _ target: String, _ fields: [String: String] = [:], body: String = ""
    ) throws -> Reply {
        let visitor = try Visitor(port: port)
        visitor.send(head(method, target, fields, body) + body)
        return try visitor.response()
    }

    func head(_ method: String, _ target: String, _ fields: [String: String], _ body: String) -> String {
        var all = ["Host": "127.0.0.1:\(port)", "Cookie": cookie, "Sec-Fetch-Site": "same-origin"]
        if method == "POST" {
            all["Origin"] = "http://127.0.0.1:\(port)"
            all["Content-Type"] = "application/json"
            all["Content-Length"] = "\(body.utf8.count)"
        }
        all.merge(fields) { $1 }
        let lines = all.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }
        return "\(method) \(target) HTTP/1.1\r\n\(lines.joined())\r\n"
    }

    /// Opens the stream of events.
    func events() throws -> Visitor {
        let visitor = try Visitor(port: port)
        visitor.send(head("GET", "/events", [:], ""))
        return visitor
    }

    /// The activities as the page gets them.
    func activities() throws -> [[String: Any]] {
        let ids = inspectorIDs
        return try ids.map { id in
            let reply = try request("GET", "/activity?id=\(id)")
            return try #require(JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any])
        }
    }

    private var inspectorIDs: [UInt64] { inspector.recordedIDs }
}
