import ErrandEssentials
import Synchronization

struct ToolSettings: Codable, Sendable, Hashable {
    struct Rule: Codable, Sendable, Hashable {
        /// A part of the URL. A `*` in it matches any characters.
        var pattern: String
        var status: Int
        var type: String
        var body: String
        /// The latency in milliseconds.
        var latency: Int
    }

    /// The delay in milliseconds.
    var delay = 0
    /// The bandwidth in bytes per second, or 0 for unlimited bandwidth.
    var bandwidth = 0
    /// The number of requests that still have to fail.
    var failures = 0
    /// The status of failed requests, or 0 for a lost connection.
    var failureStatus = 0
    var rules: [Rule] = []

    var isActive: Bool { delay > 0 || bandwidth > 0 || failures > 0 || !rules.isEmpty }

    static let maximumRules = 32

    /// The settings with limited numbers, so a mistyped number doesn't stop an app for hours.
    var bounded: ToolSettings {
        var settings = self
        settings.delay = min(max(delay, 0), 60_000)
        settings.bandwidth = min(max(bandwidth, 0), 1 << 30)
        settings.failures = min(max(failures, 0), 1_000_000)
        settings.failureStatus = (400...599).contains(failureStatus) ? failureStatus : 0
        settings.rules = rules.prefix(Self.maximumRules).filter { !$0.pattern.isEmpty }.map { rule in
            var rule = rule
            rule.status = (200...599).contains(rule.status) ? rule.status : 200
            rule.latency = min(max(rule.latency, 0), 60_000)
            // A line break in the type would add a header field, so such a type is dropped.
            if rule.type.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) { rule.type = "" }
            return rule
        }
        return settings
    }
}

final class ToolBox: Sendable {
    private let isActive = Atomic(false)
    private let settings = Mutex(ToolSettings())
    private let changes = Atomic(0)

    var current: ToolSettings { settings.withLock { $0 } }

    var version: Int { changes.load(ordering: .relaxed) }

    func set(_ new: ToolSettings) {
        let bounded = new.bounded
        settings.withLock { $0 = bounded }
        didChange(bounded)
    }

    func turnOff() { set(ToolSettings()) }

    struct Plan: Sendable {
        var delay: Duration = .zero
        var bandwidth = 0
        var failure: Int?
        var rule: ToolSettings.Rule?
    }

    func plan(for url: () -> String) -> Plan? {
        guard isActive.load(ordering: .relaxed) else { return nil }
        let url = url()
        let (plan, changed) = settings.withLock { settings -> (Plan, ToolSettings?) in
            var plan = Plan(delay: .milliseconds(settings.delay), bandwidth: settings.bandwidth)
            plan.rule = settings.rules.first { URLPattern.matches(url, $0.pattern) }
            if plan.rule == nil, settings.failures > 0 {
                settings.failures -= 1
                plan.failure = settings.failureStatus
                return (plan, settings)
            }
            return (plan, nil)
        }
        if let changed { didChange(changed) }
        return plan
    }

    private func didChange(_ settings: ToolSettings) {
        isActive.store(settings.isActive, ordering: .relaxed)
        changes.add(1, ordering: .relaxed)
    }
}

enum URLPattern {
    /// Returns whether a URL matches a pattern. The time is at most proportional to the product of both lengths.
    static func matches(_ url: String, _ pattern: String) -> Bool {
        let text = Array(url.utf8)
        let pattern = Array("*\(pattern)*".utf8)
        let star = UInt8(ascii: "*")
        var (at, place) = (0, 0)
        var (lastStar, resume) = (-1, 0)
        while at < text.count {
            if place < pattern.count, pattern[place] == star {
                (lastStar, resume) = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == text[at] {
                at += 1
                place += 1
            } else if lastStar >= 0 {
                resume += 1
                (at, place) = (resume, lastStar + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == star }
    }
}
