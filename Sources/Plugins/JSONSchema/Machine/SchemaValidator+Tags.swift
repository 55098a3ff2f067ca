import ErrandJSONValidation

/// Narrows the branches of `anyOf` and `oneOf` by a tag, see ``SchemaTag``.
///
/// The other branches fail, because they require another value of the tag, so their results aren't computed. The
/// reported problems don't change, and an object still costs the steps of all branches.
extension SchemaValidator {
    /// The steps and the bytes that must be left to derive another variant.
    private static let (spareSteps, spareBytes) = (1_000_000, 4 << 20)
    /// The number of bytes that may be skipped to find the tag, divided by the square of the number of branches.
    /// Validating against a few branches is faster than searching for the tag.
    private static let skippedBytes = 4

    @inline(never) mutating func tagged(_ text: Span<UInt8>, _ whole: StateIndex, at p: Int) -> StateIndex {
        var state = whole
        while tagBudget > 0 {
            let found = machine.arena.states[Int(state)]
            if found.tag < 0 { break }
            let number = Int(found.tag)
            let branches = Int(machine.arena.gates[found.firstGate + Int(found.tagGate)].count)
            let budget = min(tagBudget, branches * branches * Self.skippedBytes)
            let (value, skipped) = machine.tags[number].value(
                in: text, from: p, machine.arena.keys, budget: budget, program.tags[number])
            tagBudget -= skipped
            guard let value else { break }
            let known = found.firstVariant < 0 ? -1 : machine.arena.indexes[found.firstVariant + value]
            guard let next = known >= 0 ? known : derive(state, value), next != state else { break }
            state = next
            hasParts = true
        }
        return state
    }

    /// Returns `nil` if too few steps or too little memory is left.
    private mutating func derive(_ state: StateIndex, _ value: Int) -> StateIndex? {
        guard steps > Self.spareSteps, machine.hasRoom(for: Self.spareBytes) else { return nil }
        let tag = program.tags[Int(machine.arena.states[Int(state)].tag)]
        if machine.arena.states[Int(state)].firstVariant < 0 {
            machine.arena.states[Int(state)].firstVariant = machine.arena.addIndexes(tag.branches.count)
        }
        let made =
            tag.branches[value].map { StateBuilder.part(of: state, keeping: $0, program: program, in: &machine.arena) }
            ?? state
        machine.work += 64 + machine.arena.states[Int(made)].cost * 8
        charge()
        machine.arena.indexes[machine.arena.states[Int(state)].firstVariant + value] = made
        return made
    }

    /// Copies the results of a reduced state's roots to the whole state. Copying starts at the end: a lane's index in
    /// the whole state is the same or higher, so no result is overwritten before it's copied.
    mutating func spread(_ results: Int, _ part: StateIndex, to whole: StateIndex) {
        let (from, to) = (machine.arena.states[Int(part)], machine.arena.states[Int(whole)])
        for index in stride(from: to.rootCount - 1, through: 0, by: -1) {
            let lane = Int(machine.arena.numbers[from.firstRoot + index])
            machine.results[results + Int(machine.arena.numbers[to.firstRoot + index])] =
                machine.results[results + lane]
        }
    }
}

extension StateBuilder {
    /// Returns the state that remains if only the `kept` branches of the tagged gate can hold. Lanes keep their order.
    static func part(
        of whole: StateIndex, keeping kept: [Int32], program: SchemaProgram, in arena: inout SchemaArena
    ) -> StateIndex {
        let state = arena.states[Int(whole)]
        func targets(_ gate: Int32) -> [Int32] {
            let found = arena.gates[state.firstGate + Int(gate)]
            return gate == state.tagGate
                ? kept.map { arena.branch(Int($0), of: found, whole) }
                : (0..<Int(found.count)).map { arena.branch($0, of: found, whole) }
        }
        let roots = Array(arena.roots(of: whole))
        var found = Set(roots)
        var open = roots
        while let next = open.popLast() {
            let lane = arena.lane(Int(next), of: whole)
            for gate in lane.firstGate..<lane.firstGate + lane.gateCount {
                for target in targets(gate) where found.insert(target).inserted { open.append(target) }
            }
        }
        let order = found.sorted()
        var numbers: [Int32: Int32] = [:]
        for (number, lane) in order.enumerated() { numbers[lane] = Int32(number) }
        var (lanes, gates, branches): ([SchemaLane], [LaneGate], [Int32]) = ([], [], [])
        for number in order {
            var lane = arena.lane(Int(number), of: whole)
            let first = Int32(gates.count)
            for gate in lane.firstGate..<lane.firstGate + lane.gateCount {
                let targets = targets(gate)
                var made = arena.gates[state.firstGate + Int(gate)]
                (made.first, made.count, made.entry) = (Int32(branches.count), Int32(targets.count), -1)
                if gate == state.tagGate { made.tag = -1 }
                gates.append(made)
                branches += targets.compactMap { numbers[$0] }
            }
            lane.firstGate = first
            lanes.append(lane)
        }
        return self.state(
            lanes, gates: gates, branches: branches, roots: roots.compactMap { numbers[$0] }, program: program,
            in: &arena)
    }
}
