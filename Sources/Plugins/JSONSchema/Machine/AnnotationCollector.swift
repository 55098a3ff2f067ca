import ErrandEssentials
import ErrandJSONSyntax
import ErrandJSONValidation

/// Collects the annotations of each lane. A lane's annotations count only if the value fits its schema.
struct AnnotationCollector {
    private(set) var found: [JSONAnnotation] = []
    /// The indices in `found` of each result's annotations.
    private var notes: [[Int]] = []
    let limit: Int

    init(limit: Int) { self.limit = limit }

    var isFull: Bool { found.count >= limit }

    mutating func clear(_ results: Range<Int>) {
        while notes.count < results.upperBound { notes.append([]) }
        for index in results { notes[index] = [] }
    }

    mutating func add(_ annotation: @autoclosure () -> JSONAnnotation, to result: Int) {
        if isFull { return }
        notes[result].append(found.count)
        found.append(annotation())
    }

    mutating func move(from part: Int, to whole: Int) { notes[whole] += notes[part] }

    mutating func drop(_ result: Int) { notes[result] = [] }

    mutating func add(_ numbers: [Int], to result: Int) { notes[result] += numbers }

    func numbers(of result: Int) -> [Int] { notes[result] }

    func annotations(of result: Int) -> [JSONAnnotation] {
        guard result < notes.count else { return [] }
        var known: Set<[String]> = []
        let all = Set(notes[result]).sorted().map { found[$0] }.filter {
            known.insert([$0.pointer, $0.schemaLocation]).inserted
        }
        return all.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
            .map(\.element)
    }
}

extension SchemaValidator {
    /// Records the annotations of a lane's schema and of the schemas that it applies to the same value. Drops them if
    /// the value doesn't fit.
    @inline(never) mutating func annotate(
        _ text: Span<UInt8>, lane index: Int, of state: StateIndex, results first: Int, isFrame: Bool, at start: Int,
        depth: Int
    ) {
        guard machine.results[first + index] != 0 else {
            collector?.drop(first + index)
            return
        }
        let lane = machine.arena.lane(index, of: state)
        let node = program.nodes[Int(lane.node)]
        for annotation in node.annotations {
            if annotation.keyword.hasPrefix("content"), text[start] != JSONGrammar.quote { continue }
            let location = SchemaLocation(document: node.location.document, value: annotation.value)
            let made = JSONAnnotation(
                pointer: pointer(text, depth), keyword: annotation.keyword, value: value(of: location),
                schemaLocation: program.location(
                    lane.node, JSONPointer.appending(annotation.keyword, to: "")), offset: start)
            machine.arena.count(
                160 + made.pointer.utf8.count + made.keyword.utf8.count + made.schemaLocation.utf8.count)
            steps -= 64
            collector?.add(made, to: first + index)
        }
        for gateIndex in 0..<Int(lane.gateCount) {
            let gate = machine.arena.gate(gateIndex, of: lane, state)
            let live = liveBranches(gate, in: state, results: first, isFrame: isFrame)
            for branch in live where machine.results[first + Int(branch)] != 0 {
                steps -= collector?.numbers(of: first + Int(branch)).count ?? 0
                collector?.move(from: first + Int(branch), to: first + index)
            }
        }
    }

    private mutating func value(of location: SchemaLocation) -> JSONFragment {
        if let known = values[location] { return known }
        let made = JSONFragment(data: program.documents[location.document].data(location.value))
        machine.arena.count(128 + made.data.count)
        values[location] = made
        return made
    }

    @inline(never) mutating func takeAnnotations(_ first: Int, _ start: Int) {
        let transition = machine.arena.transitions[Int(frame.transition)]
        for index in transition.firstWire..<transition.firstWire + transition.wireCount {
            let wire = machine.arena.wires[index]
            guard machine.results[first + Int(wire.child)] != 0 else { continue }
            if wire.role != .unevaluated {
                steps -= collector?.numbers(of: first + Int(wire.child)).count ?? 0
                collector?.move(from: first + Int(wire.child), to: frame.results + Int(wire.parent))
                continue
            }
            // A schema for unevaluated parts counts only if no other lane evaluates the part, which is known only at
            // the end of the enclosing value.
            let numbers = collector?.numbers(of: first + Int(wire.child)) ?? []
            guard !numbers.isEmpty, transition.evaluators >= 0 else { continue }
            let set = evaluators(transition)
            pending.append(
                PendingPart(
                    fate: PendingFate(
                        container: frame.number, lane: wire.parent,
                        evaluators: set),
                    values: [(start, frame.count)], annotations: numbers))
            machine.arena.count(160 + set.count * 8)
        }
    }

    /// Returns `nil` if the text is invalid or the annotations exceed the limit.
    mutating func collect(_ text: Span<UInt8>) -> [JSONAnnotation]? {
        guard let start = firstByte(text) else { return nil }
        // The root isn't a hard lane, because annotations are passed along ``SchemaWire`` values, which hard lanes
        // don't have.
        let root = machine.state([SchemaMachine.root(program.root, isHard: false)], program)
        let lanes = machine.arena.lanes(of: root).map(\.node)
        guard read(text, from: start, root, base: 0) != nil else { return nil }
        if steps < 0 || machine.isFull { _ = tooMuch(text, at: text.count, depth: 0) }
        guard problems.count == 0, let collector, !collector.isFull else { return nil }
        guard let lane = lanes.firstIndex(of: program.root) else { return [] }
        return collector.annotations(of: lane)
    }
}
