import ErrandJSONValidation
import Foundation
import Testing

/// Many shapes for one place, and recursive shapes.
@Suite("Unions and deep shapes", .endsInTime, .leakChecked)
struct UnionTests {
    private let shapes = JSONShape.either(
        ["kind": .enumeration("circle"), "radius": .number],
        ["kind": .enumeration("rectangle", "square"), "width": .number],
        ["kind": .enumeration("line"), "width": .number, "note": .optional(.string)])

    @Test("an unknown tag is reported at its position, with all tags that fit the rest")
    func tags() {
        #expect(
            shapes.complaints(#"{"width":1,"kind":"oval"}"#) == [
                #"/kind: expected "rectangle", "square" or "line", found another string (byte 18)"#
            ])
        #expect(
            shapes.complaints(#"{"kind":"oval","radius":1}"#) == [
                #"/kind: expected "circle", found another string (byte 8)"#
            ])
        #expect(
            shapes.complaints(#"{"kind":"oval"}"#) == [
                #"/kind: expected "circle", "rectangle", "square" or "line", found another string (byte 8)"#
            ])
        #expect(
            shapes.complaints(#"{"width":1}"#) == [#"/kind: missing, expected "rectangle", "square" or "line""#])
        #expect(
            shapes.complaints(#"[{"kind":7}]"#).isEmpty == false
                && JSONShape.array(of: shapes).complaints(#"[{"kind":7,"width":2}]"#) == [
                    #"/0/kind: expected "rectangle", "square" or "line", found a number (byte 9)"#
                ])
        #expect(shapes.complaints(#"{"kind":"circle","radius":"x","width":1}"#).first?.hasPrefix("/radius: ") == true)
        #expect(shapes.accepts(#"{"w\u0069dth":1,"\u006bind":"squ\u0061re"}"#))
        #expect(shapes.problems(#"{"kind":"oval","x":{"a":1,"a":2}}"#).map(\.kind) == [.value, .duplicateKey])
        #expect(shapes.problems(#"{"kind":"circle","radius":1,"kind":"x"}"#).map(\.kind).contains(.duplicateKey))
        for text in [#"{"kind""#, #"{"kind":"#, #"{"kind":"circle"#, #"{"a":[1,{"b"#, #"{"a":1 "kind":"x"}"#, "{,}"] {
            #expect(shapes.problems(text).map(\.kind) == [.syntax], "\(text)")
        }
    }

    @Test("the position of a failure within unions is reported, at any depth", arguments: [3, 6, 12, 60])
    func depth(levels: Int) {
        let tree = JSONShape.recursive { tree in
            .either(["n": tree, "a": .any], ["n": tree, "b": .any], .integer)
        }
        var (text, pointer) = ("true", "")
        for _ in 0..<levels {
            text = #"{"n":\#(text),"a":1}"#
            pointer += "/n"
        }
        #expect(tree.problems(text).map(\.pointer) == [pointer])
        let tagged = JSONShape.recursive { tree in
            .either(["k": .enumeration("a"), "n": tree], ["k": .enumeration("b"), "n": tree], .integer)
        }
        var other = "true"
        for level in 0..<levels { other = #"{"n":\#(other),"k":"\#(level % 2 == 0 ? "a" : "b")"}"# }
        #expect(tagged.problems(other).map(\.pointer) == [pointer])
    }

    /// Returns the CPU milliseconds for a text of a fixed size, as the minimum of several runs.
    private func time(_ shape: JSONShape, _ text: String, _ fits: Bool) -> Double {
        func processorTime() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
        }
        return (0..<3).map { _ in
            let start = processorTime()
            #expect(shape.accepts(text) == fits)
            return processorTime() - start
        }.min() ?? 0
    }

    private func union(_ count: Int, isTagged: Bool) -> (JSONShape, (Int) -> String) {
        let shape = JSONShape.either(
            (0..<count).map { index in
                isTagged
                    ? ["kind": .enumeration(.string("k\(index)")), "a\(index)": .integer, "name": .string]
                    : ["a\(index)": .integer, "name": .string]
            })
        return (.array(of: shape), { #"{"name":"Ada","a\#($0)":1,"more":[1,2,3,4,5,6,7],"kind":"k\#($0)"}"# })
    }

    @Test("the time for a union grows with the number of its shapes, not with its square", arguments: [true, false])
    func linear(isTagged: Bool) {
        var times: [[Double]] = []
        for _ in 0..<8 {
            let pair = [100, 400].map { count in
                let (shape, text) = union(count, isTagged: isTagged)
                let values = (0..<60).map { text($0 * 7 % count) }
                return time(shape, "[\(values.joined(separator: ","))]", true)
            }
            // The longer text takes four times as long if the time is linear, and sixteen times if it's quadratic.
            // Other processes may share the caches at any moment.
            if pair[1] < pair[0] * 9 { return }
            times.append(pair)
        }
        Issue.record("\(times)")
    }

    @Test("a shape that occurs many times in other shapes is compiled once")
    func shared() {
        var shape = JSONShape.either(["a": .integer], ["b": .integer])
        for _ in 0..<60 { shape = .either(shape, shape, .nullable(shape)) }
        #expect(shape.accepts(#"{"b":1}"#) && shape.accepts("null") && !shape.accepts("1"))
        let odd = JSONShape.custom("odd", of: shape) { $0.data.count > 100 }
        #expect(
            !JSONShape.either(odd, .string).accepts(#"{"b":1}"#) && JSONShape.either(odd, shape).accepts(#"{"b":1}"#))
    }

    @Test("deeply nested shapes are created, refused with a message and released without a crash")
    func deepShapes() {
        let wraps: [(JSONShape) -> JSONShape] = [
            { .array(of: $0) }, { ["a": $0] }, { .nullable($0) }, { .either($0, .string) }, { .map(of: $0) },
            { .optional($0) }, { .custom("it", of: $0) { _ in true } }, { shape in .recursive { _ in shape } },
        ]
        for (place, wrap) in wraps.enumerated() {
            var shape = JSONShape.integer
            for _ in 0..<30_000 { shape = wrap(shape) }
            let problem = shape.problems("1").first
            #expect(problem?.kind == .shape, "\(place)")
            #expect(
                problem?.description
                    == "the shape cannot be used: expected a shape with at most 1000 levels, found 30001 levels")
            var fitting = JSONShape.integer
            for _ in 0..<999 { fitting = wrap(fitting) }
            #expect(fitting.problems("true").map(\.kind) != [.shape], "\(place)")
        }
    }

    @Test("a missing value reports the expected type")
    func missing() throws {
        let shape: JSONShape = [
            "a": .integer(in: 1...3), "b": .enumeration("x", "y"), "c": .string(nonEmpty: true),
            "d": .string(matching: /[a-z]+/), "e": .either(.integer, .string), "f": [:], "g": .any, "h": .string,
            "i": .nullable(.boolean),
        ]
        #expect(
            shape.complaints("{}") == [
                "/a: missing, expected an integer in 1...3", #"/b: missing, expected "x" or "y""#,
                "/c: missing, expected a string that is not empty",
                "/d: missing, expected a string that matches [a-z]+",
                "/e: missing, expected a string or an integer", "/f: missing, expected an object",
                "/g: missing, expected a value", "/h: missing, expected a string",
                "/i: missing, expected a boolean or null",
            ])
    }

    @Test("negative limits count as zero, and the messages are sensible")
    func negativeLimits() {
        var limits = JSONLimits()
        limits.maximumBytes = -1
        #expect(
            JSONShape.any.complaints("[1]", limits: limits) == ["document: expected at most 0 bytes, found 3 (byte 0)"])
        limits = JSONLimits()
        limits.maximumDepth = .min
        #expect(
            JSONShape.any.complaints("[1]", limits: limits) == [
                "document: expected at most 0 levels, found more (byte 0)"
            ])
        limits.maximumDepth = 4
        limits.maximumKeys = -5
        #expect(
            JSONShape.any.complaints(#"{"a":1}"#, limits: limits).first?.contains(
                "expected at most 0 keys in open objects")
                == true)
    }

    @Test("an option decides whether repeated keys are refused")
    func repeatedKeys() {
        var limits = JSONLimits()
        let text = #"{"a":1,"a":2,"b":{"c":1,"c":"x"}}"#
        #expect(JSONShape.any.problems(text, limits: limits).map(\.kind) == [.duplicateKey, .duplicateKey])
        limits.refusesRepeatedKeys = false
        #expect(JSONShape.any.problems(text, limits: limits).isEmpty)
        let shape: JSONShape = ["a": .integer, "b": .either(["c": .integer], ["d": .string])]
        #expect(shape.problems(text, limits: limits).map(\.pointer) == ["/b/c"])
        let wide = JSONShape.object(members: (0..<70).map { ("k\($0)", .optional(.any)) } + [("a", .any)])
        #expect(wide.problems(#"{"a":1,"a":2}"#, limits: limits).isEmpty)
    }
}
