// swift-format-ignore-file: NoBlockComments

import Errand
import ErrandConformance
import Foundation

// Tests as failures print them. `PastedTests` compares them with what the laws print.

private final class MyRelay: WireRelay {
    let url: String

    init(to port: Int) throws { url = "http://127.0.0.1:\(port)" }
}

private struct Pasted {
    func keepsLaw0() async throws {
        try await FilterLaw.request.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw1() async throws {
        try await FilterLaw.distinction.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw2() async throws {
        try await FilterLaw.coding.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw3() async throws {
        try await FilterLaw.count.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw4() async throws {
        try await FilterLaw.repetition.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw5() async throws {
        try await FilterLaw.response.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw6() async throws {
        try await FilterLaw.arrival.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw7() async throws {
        try await FilterLaw.bystanders.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw8() async throws {
        try await FilterLaw.concurrency.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw9() async throws {
        try await FilterLaw.time.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw10() async throws {
        try await FilterLaw.release.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw11() async throws {
        try await FilterLaw.separation.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw12() async throws {
        try await FilterLaw.history.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw13() async throws {
        try await FilterLaw.abandonment.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw14() async throws {
        try await FilterLaw.acceptance.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw15() async throws {
        try await FilterLaw.coherence.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw16() async throws {
        try await FilterLaw.recovery.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw17() async throws {
        try await FilterLaw.lookalikes.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw18() async throws {
        try await FilterLaw.users.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw19() async throws {
        try await FilterLaw.attempts.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw20() async throws {
        try await FilterLaw.resending.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw21() async throws {
        try await FilterLaw.redirects.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw22() async throws {
        try await FilterLaw.spelling.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw23() async throws {
        try await FilterLaw.renewal.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw24() async throws {
        try await FilterLaw.ending.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw25() async throws {
        try await FilterLaw.live.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw26() async throws {
        try await FilterLaw.setback.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw27() async throws {
        try await FilterLaw.endurance.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw28() async throws {
        try await FilterLaw.errors.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw29() async throws {
        try await FilterLaw.credentials.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw30() async throws {
        try await FilterLaw.signatures.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw31() async throws {
        try await FilterLaw.pauses.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw32() async throws {
        try await FilterLaw.waiting.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw33() async throws {
        try await FilterLaw.limits.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw34() async throws {
        try await FilterLaw.versions.check(
            { PastedFilter( /* arguments as in your test */) },
            LawExchange())
    }

    func keepsLaw35() async throws {
        try await FilterLaw.request.check(
            { PastedFilter.Inner( /* arguments as in your test */) },
            effects: [
                .method, .url, .headers("X-A", "X-B"), .body, .headersPerCall("X-C"), .headersPerAttempt("X-D"),
                .timeout, .priority, .delivery, .tags, .response, .error, .repeats(), .repeats("LAW", .get),
                .repeats(.post, evenIfReceived: true), .responds, .waits, .limits(4),
            ],
            samples: [
                LawExchange(
                    .post, body: .text("law"), isStreamed: true, isDropped: true, cancellation: .whileReading,
                    replies: [LawReply(body: .awaitedStream(["a"]))]), LawExchange(),
            ],
            another: { PastedFilter.Inner( /* arguments as in your test */) },
            LawExchange(
                "LAW", "https://api.service.test/v1/a?b=%20\"",
                headers: (["X-A": "1\\\"", "Accept": "*/*"] as HTTPHeaders).sensitive("X-A"),
                body: .stream(["a", "b\n"], isReplayable: true, hasLength: true), isSaved: true,
                timeout: .milliseconds(1500), deadline: .seconds(9), priority: .high, isTagged: true,
                tags: [
                    LawTag(URLTemplate.self, "/users/{id}"), LawTag(LiveStream.self, true),
                    LawTag(LinkSource.self, URL(string: "https://conformance.example/")),
                    LawTag(PastedFilter.Mode.self, .quick),
                ], isRefused: true, isStrict: true, isRepeated: true, cancellation: .onTheWire,
                replies: [
                    LawReply(
                        503, headers: ["X-B": ""], body: .bytes([255]), delay: .seconds(1), failure: .connectionLost),
                    LawReply(body: .text(String(repeating: "\"", count: 200))), LawReply(body: .none),
                ]),
            LawExchange(
                .post, body: .text("law"), isStreamed: true, isDropped: true, cancellation: .whileReading,
                replies: [LawReply(body: .awaitedStream(["a"]))]))
    }

    func keepsLaw36() async throws {
        try await AccessoryConformance.check(
            { PastedAccessory() },
            effects: [.cancels],
            output: { _ in "" /* as in your test */ },
            outcomes: { _ in "" /* as in your test */ },
            attach: { _, _ in /* as in your test */ },
            LawExchange(
                "LAW", "https://api.service.test/v1/a?b=%20\"",
                headers: (["X-A": "1\\\"", "Accept": "*/*"] as HTTPHeaders).sensitive("X-A"),
                body: .stream(["a", "b\n"], isReplayable: true, hasLength: true), isSaved: true,
                timeout: .milliseconds(1500), deadline: .seconds(9), priority: .high, isTagged: true,
                tags: [
                    LawTag(URLTemplate.self, "/users/{id}"), LawTag(LiveStream.self, true),
                    LawTag(LinkSource.self, URL(string: "https://conformance.example/")),
                    LawTag(PastedFilter.Mode.self, .quick),
                ], isRefused: true, isStrict: true, isRepeated: true, cancellation: .onTheWire,
                replies: [
                    LawReply(
                        503, headers: ["X-B": ""], body: .bytes([255]), delay: .seconds(1), failure: .connectionLost),
                    LawReply(body: .text(String(repeating: "\"", count: 200))), LawReply(body: .none),
                ]))
    }

    func keepsLaw37() async throws {
        try await TransportLaw.request.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw38() async throws {
        try await TransportLaw.response.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw39() async throws {
        try await TransportLaw.framing.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw40() async throws {
        try await TransportLaw.promptness.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw41() async throws {
        try await TransportLaw.faults.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw42() async throws {
        try await TransportLaw.count.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw43() async throws {
        try await TransportLaw.events.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw44() async throws {
        try await TransportLaw.cancellation.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw45() async throws {
        try await TransportLaw.release.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw46() async throws {
        try await TransportLaw.separation.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw47() async throws {
        try await TransportLaw.concurrency.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw48() async throws {
        try await TransportLaw.setback.check(
            { PastedTransport() },
            WireExchange())
    }

    func keepsLaw49() async throws {
        try await TransportLaw.continuation.check(
            { PastedTransport() },
            through: { port in try MyRelay(to: port) },
            effects: [.continuesBodies, .ordersRequests],
            WireExchange(
                .put, "/b?c", headers: ["X-A": "1"], body: .stream([1, 2], isKnown: true, isReplayable: false),
                isElsewhere: true, isStreamed: true, isReadSlowly: true, isDropped: true, isCancelled: true,
                reply: WireReply(
                    404, headers: ["X-B": "2"], body: .bytes(9), framing: .chunked([3]), trailers: ["X-C": "3"],
                    informational: [103], fault: .close(2)), furtherReplies: [.part]),
            WireExchange())
    }
}
