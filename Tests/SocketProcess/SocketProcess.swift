import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandWebSocket

/// Runs the cases of an Autobahn fuzzing server over one agent's sockets: `errand-sockets http://127.0.0.1:9001`.
/// `--forgetful` offers compression without a client window.
@main
struct SocketProcess {
    private struct Case: WebSocketRequest {
        let path: String
        var compression = WebSocketCompression.off
        var webSocketOptions: WebSocketOptions {
            WebSocketOptions(compression: compression, maximumMessageBytes: 64 << 20, pingInterval: nil)
        }
    }

    static func main() async throws {
        guard CommandLine.arguments.count > 1 else { return print("usage: errand-sockets <base URL> [--forgetful]") }
        let agent = NetworkAgent(baseURL: CommandLine.arguments[1], transport: .system)
        let keepsWindow = !CommandLine.arguments.contains("--forgetful")
        let compression = WebSocketCompression(clientKeepsWindow: keepsWindow, minimumBytes: 0)
        var count = 0
        for try await message in agent.webSocket(Case(path: "getCaseCount")) {
            count = Int(String(decoding: message.bytes, as: UTF8.self)) ?? 0
        }
        for number in 0..<count {
            let path = "runCase?case=\(number + 1)&agent=errand"
            let socket = agent.webSocket(Case(path: path, compression: compression))
            do { for try await message in socket { try await socket.send(message) } } catch {
                // Cases provoke errors.
            }
        }
        // A server may end this connection without a close frame.
        do { for try await _ in agent.webSocket(Case(path: "updateReports?agent=errand")) {} } catch {}
        print("\(count) cases")
    }
}
