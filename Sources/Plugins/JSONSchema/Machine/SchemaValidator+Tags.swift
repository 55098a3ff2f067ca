import ErrandJSONValidation

/// Objects of several branches that a tag tells apart: it is read first, so that an object is validated against the branches
/// that it may fit only.
///
/// Every other branch fails, as the tag has another value than it asks for: a result that is known is not computed. What is
/// reported follows from the results alone. The steps of an object are those of all branches nevertheless, so that none takes
/// more than without a tag.
extension SchemaValidator {
    /// The steps and the bytes that have to be left to derive what remains for a value.
    private static let (spareSteps, spareBytes) = (1_000_000, 4 << 20)
    /// How many bytes are skipped to find the tag, for each branch and each other one: a few branches take less time than it
    /// would, and many take far more.
    private static let skippedBytes = 4

    /// What an object is validated against.
    @inline(never) mutating func tagged(_ whole: StatePointer, at p: BytePointer) -> StatePointer {
        var state = whole
        while state.pointee.tag >= 0, tagBudget > 0 {
            let (program, number) = (program, Int(state.pointee.tag))
            let branches = Int(state.pointee.gates[Int(state.pointee.tagGate)].count)
            let budget = min(tagBudget, branches * branches * Self.skippedBytes)
            let (value, skipped) = machine.tags[number].value(in: p, end, budget: budget, program.tags[number])
            tagBudget -= skipped
            guard let value,
                let next = state.pointee.variants?[value] ?? derive(state, value), next != state
            else { break }
            state = next
            hasParts = true
        }
        return state
    }

    /// Derives what remains of a state for a value of its tag; nil if there is no room for it.
    private mutating func derive(_ state: StatePointer, _ value: Int) -> StatePointer? {
        guard steps > Self.spareSteps, machine.hasRoom(for: Self.spareBytes) else { return nil }
        let tag = program.tags[Int(state.pointee.tag)]
        let variants =
            state.pointee.variants ?? machine.arena.copy([StatePointer?](repeating: nil, count: tag.branches.count))
        state.pointee.variants = variants
        let made = tag.branches[value].map { StateBuilder.part(of: state, $0, program, machine.arena) } ?? state
        machine.work += 64 + made.pointee.cost * 8
        charge()
        variants[value] = made
        return made
    }

    /// Takes the results of what remained over to the lanes of the whole. Every lane has a place behind its own there.
    func spread(_ results: UnsafeMutablePointer<UInt8>, _ part: StatePointer, to whole: StatePointer) {
        guard let from = part.pointee.roots, let to = whole.pointee.roots else { return }
        for index in stride(from: whole.pointee.rootCount - 1, through: 0, by: -1) {
            results[Int(to[index])] = results[Int(from[index])]
        }
    }
}

extension StateBuilder {
    /// What remains of a state if some branches of the gate with its tag are known to fail: the lanes that are left, in their
    /// order.
    static func part(
        of whole: StatePointer, _ kept: [Int32], _ program: SchemaProgram, _ arena: SchemaArena
    ) -> StatePointer {
        let whole = whole.pointee
        func targets(_ gate: Int32) -> [Int32] {
            let first = whole.branches + Int(whole.gates[Int(gate)].first)
            return gate == whole.tagGate
                ? kept.map { first[Int($0)] } : (0..<Int(whole.gates[Int(gate)].count)).map { first[$0] }
        }
        let roots = (0..<whole.rootCount).compactMap { whole.roots?[$0] }
        var found = Set(roots)
        var open = roots
        while let next = open.popLast() {
            let lane = whole.lanes[Int(next)]
            for gate in lane.firstGate..<lane.firstGate + lane.gateCount {
                for target in targets(gate) where found.insert(target).inserted { open.append(target) }
            }
        }
        let order = found.sorted()
        var numbers: [Int32: Int32] = [:]
        for (number, lane) in order.enumerated() { numbers[lane] = Int32(number) }
        var (lanes, gates, branches): ([SchemaLane], [LaneGate], [Int32]) = ([], [], [])
        for number in order {
            var lane = whole.lanes[Int(number)]
            let first = Int32(gates.count)
            for gate in lane.firstGate..<lane.firstGate + lane.gateCount {
                let targets = targets(gate)
                var made = whole.gates[Int(gate)]
                (made.first, made.count, made.entry) = (Int32(branches.count), Int32(targets.count), -1)
                if gate == whole.tagGate { made.tag = -1 }
                gates.append(made)
                branches += targets.compactMap { numbers[$0] }
            }
            lane.firstGate = first
            lanes.append(lane)
        }
        return state(lanes, gates, branches, roots: roots.compactMap { numbers[$0] }, program, arena)
    }
}
