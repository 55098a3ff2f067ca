import Errand
import ErrandConformance
import ErrandTesting
import Foundation

/// Runs the conformance suite on ``CurlTool`` and prints the results.
@main
struct Main {
    static let limitations: [KnownLimitation] = [
        .feature(.backpressure, because: "the body is read whole, into a file"),
        .feature(.uploadBackpressure, because: "a body is collected before the process starts"),
        .feature(.reuse, because: "each request is a process, with a connection of its own"),
        .feature(.load, because: "each request is a process"),
        .feature(.timeouts, because: "the clock is curl's own"),
        .feature(.events, because: "nothing is reported while the process runs"),
        .feature(.trailers, because: "trailers are not reported"),
        .named(
            "a streamed body can be read after its transport is released",
            because: "the body is read before the head is returned"
        ),
        .named(
            "malformed chunks are invalidResponse, not connectionLost",
            because: "curl ends with one code for both"),
        .named(
            "a transfer coding other than chunked is invalidResponse",
            because: "some versions of curl let it pass"),
        .named(
            "a header field that starts with a carriage return is invalidResponse",
            because: "curl takes it for the end of the head"),
        .named("a body above the size limit is a bodyTooLarge error", because: "curl 7 limits announced lengths only"),
        .named(
            "a streamed body that is dropped or cancelled closes its connection",
            because: "the body is read before the head is returned"),
    ]

    static func main() async {
        #if os(Linux) || os(macOS)
        var (kept, excused, broken) = (0, 0, 0)
        // The suite's laws are off, because most of them need a head that arrives before its body.
        for each in TransportConformance.cases(for: { CurlTool() }, laws: .off, knownLimitations: limitations) {
            do {
                try await each.run()
                kept += 1
                print("kept     \(each)")
            } catch is ConformanceSkipped {
                excused += 1
                print("excused  \(each)")
            } catch {
                broken += 1
                print("broken   \(each)\n         \(error)")
            }
        }
        print("\(kept) kept, \(excused) excused, \(broken) broken")
        if broken > 0 { exit(1) }
        #else
        print("this transport starts a process for each request, and this platform has none")
        #endif
    }
}
