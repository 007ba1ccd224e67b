package io.amqplocks.test;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * What is asked of the server, as Erlang expressions whose value is iodata. They are the calls that
 * the commands of {@code rabbitmqctl} make, and the same from 3.10 to 4.3. Each {@code %s} stands
 * for a text, filled in as an Erlang binary.
 */
final class Erlang {

  /** The value of an expression that was asked for its effect. */
  private static final String DONE = ", <<>>.";

  /**
   * Setting an alarm is but a message; when this one is answered, every connection has been told.
   */
  private static final String ALARM_KNOWN = ", rabbit_alarm:get_alarms()";

  /** Binds {@code Names}: a function that lists the connections as {@code {Pid, Name}}. */
  static final String CONNECTION_NAMES =
      """
      Names = fun() ->
        [begin
           Properties = proplists:get_value(client_properties, Info, []),
           Name = case is_list(Properties) %% none in the middle of a handshake
             andalso lists:keyfind(<<"connection_name">>, 1, Properties) of
             {_, _, Text} -> Text;
             false -> <<>>
           end,
           {proplists:get_value(pid, Info), Name}
         end || Info <- rabbit_networking:connection_info_all([pid, client_properties])]
      end,
      """;

  /** One row a connection: its name. */
  static final String CONNECTIONS = "[[base64:encode(Name), \"\\n\"] || {_, Name} <- Names()].";

  /** One row a queue: name, exclusive, consumers, messages, owner. */
  static final String QUEUES =
      """
      Owners = Names(),
      Keys = [name, exclusive, consumers, messages, owner_pid],
      [begin
         Count = fun(Key) ->
           case proplists:get_value(Key, Info) of
             Number when is_integer(Number) -> integer_to_list(Number);
             _ -> "0"
           end
         end,
         {resource, _, queue, Name} = proplists:get_value(name, Info),
         Owner = proplists:get_value(owner_pid, Info),
         [base64:encode(Name),
          "|", atom_to_list(proplists:get_value(exclusive, Info, false) =:= true),
          "|", Count(consumers),
          "|", Count(messages),
          "|", base64:encode(proplists:get_value(Owner, Owners, <<>>)),
          "\\n"]
       end || Info <- rabbit_amqqueue:info_all(<<"/">>, Keys)].
      """;

  /** Each quorum queue, its leader, and what the member on this node knows; as Erlang terms. */
  static final String QUORUM_QUEUES =
      """
      [io_lib:format("~0p, led by ~0p: ~0p~n",
        [amqqueue:get_name(Queue), amqqueue:get_pid(Queue),
         catch ra:local_query({element(1, amqqueue:get_pid(Queue)), node()}, fun(All) -> All end)])
       || Queue <- rabbit_amqqueue:list(), amqqueue:get_type(Queue) =:= rabbit_quorum_queue].
      """;

  /** Memory, processes and atoms, after a garbage collection. */
  static final String USAGE =
      """
      [garbage_collect(Process) || Process <- processes()],
      lists:join("|", [integer_to_list(Number) || Number <- [
        erlang:memory(total),
        erlang:system_info(process_count),
        erlang:system_info(atom_count)]]).
      """;

  /** Without an answer: what was in memory is written to segments meanwhile. */
  static final String ROLL_OVER_LOGS =
      """
      [begin
         #{names := #{wal := Log}} = ra_system:fetch(System),
         ok = ra_log_wal:force_roll_over(Log)
       end || System <- [coordination, quorum_queues]]"""
          + DONE;

  /** Name, reason. The value is the number of connections closed. */
  static final String CLOSE_CONNECTIONS =
      """
      Wanted = %s,
      Reason = binary_to_list(%s),
      Pids = [Pid || {Pid, Name} <- Names(), Name =:= Wanted],
      [rabbit_networking:close_connection(Pid, Reason) || Pid <- Pids],
      integer_to_list(length(Pids)).
      """;

  /** Queue. The value is {@code none} if there is no such queue. */
  static final String DELETE_QUEUE =
      """
      case rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, %s)) of
        {ok, Queue} ->
          try
            {ok, _} = rabbit_amqqueue:delete(Queue, false, false, <<"amqp-locks-test">>),
            "deleted"
          catch
            exit:{normal, _} -> "deleted"; %% it was deleted otherwise in that moment
            exit:{noproc, _} -> "deleted"
          end;
        {error, not_found} ->
          "none"
      end.
      """;

  /** Queue. The value is {@code none} if it has no process on this node. */
  static final String CRASH_QUEUE =
      """
      Resource = rabbit_misc:r(<<"/">>, queue, %s),
      Process = fun() ->
        case rabbit_amqqueue:lookup(Resource) of
          {ok, Queue} ->
            case amqqueue:get_pid(Queue) of
              {Member, _} -> whereis(Member); %% of a quorum queue
              Pid when is_pid(Pid), node(Pid) =:= node() -> Pid;
              _ -> undefined
            end;
          _ ->
            undefined
        end
      end,
      case Process() of
        undefined ->
          "none";
        Old ->
          Death = monitor(process, Old),
          exit(Old, kill),
          receive {'DOWN', Death, process, Old, _} -> ok end,
          Await = fun Again() ->
            New = Process(),
            case New =/= Old andalso is_pid(New) andalso is_process_alive(New) of
              true -> "crashed";
              false -> timer:sleep(10), Again()
            end
          end,
          Await()
      end.
      """;

  /** Queue. The commands that a quorum queue's leader gives when a node goes and comes. */
  static final String DROP_LINK =
      memberOfQuorumQueue(
          """
          Leader = {Member, node()},
          {ok, _, _} = ra:process_command(Leader, {down, self(), noconnection}),
          {ok, _, _} = ra:process_command(Leader, {nodeup, node()}),
          "dropped"
          """);

  /**
   * Queue. Takes the member out of the file in which the node has its members, and writes it. The
   * value is {@code none} if there is no such quorum queue.
   */
  static final String FORGET_MEMBER =
      memberOfQuorumQueue(
          """
          #{names := #{directory_rev := Members}} = ra_system:fetch(quorum_queues),
          ok = dets:delete(Members, Member),
          ok = dets:sync(Members),
          "forgotten"
          """);

  /** What is done with the member of that queue, or {@code none} if it is no quorum queue. */
  private static String memberOfQuorumQueue(String expressions) {
    return """
        case rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, %s)) of
          {ok, Queue} ->
            case amqqueue:get_pid(Queue) of
              {Member, _} -> THEN;
              _ -> "none"
            end;
          _ ->
            "none"
        end.
        """
        .replace("THEN", expressions);
  }

  static final String WRITE_MEMBERS =
      """
      #{names := #{directory_rev := Members}} = ra_system:fetch(quorum_queues),
      ok = dets:sync(Members)
      """
          + DONE;

  /** One row a queue that had no leader: its name. */
  static final String ELECT_LEADERS =
      """
      Ask = fun(Member, Patience) ->
        try element(1, ra:members(Member, Patience))
        catch exit:_ -> error %% it is being deleted
        end
      end,
      Elect = fun(Queue) ->
        {Name, _} = amqqueue:get_pid(Queue),
        Member = {Name, node()},
        case Ask(Member, 2000) of
          timeout ->
            catch ra:trigger_election(Member),
            case Ask(Member, 10000) of
              ok ->
                {resource, _, queue, Text} = amqqueue:get_name(Queue),
                [base64:encode(Text), "\n"];
              _ ->
                []
            end;
          _ ->
            [] %% it has one, or is gone
        end
      end,
      Self = self(),
      Asked = [begin
        Key = make_ref(),
        spawn(fun() -> Self ! {Key, try Elect(Queue) catch _:_ -> [] end} end),
        Key
      end || Queue <- rabbit_amqqueue:list(<<"/">>),
             amqqueue:get_type(Queue) =:= rabbit_quorum_queue],
      [receive {Key, Row} -> Row end || Key <- Asked].
      """;

  /** Queue. The value is {@code none} if there is no such queue. */
  static final String SUSPEND_QUEUE = queueProcess("sys:suspend(Pid)");

  /** Queue. */
  static final String RESUME_QUEUE = queueProcess("sys:resume(Pid)");

  /** Queue, milliseconds. The value is the number of its consumers' channels, or {@code none}. */
  static final String SUSPEND_CONSUMERS =
      """
      case rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, %s)) of
        {ok, Queue} ->
          Channels = lists:usort([element(1, C) || C <- rabbit_amqqueue:consumers(Queue)]),
          lists:foreach(fun sys:suspend/1, Channels),
          spawn(fun() ->
            timer:sleep(binary_to_integer(%s)),
            lists:foreach(fun(Channel) -> exit(Channel, kill) end, Channels)
          end),
          integer_to_list(length(Channels));
        _ ->
          "none"
      end.
      """;

  /** Queue, milliseconds. Looks are answered between these steps, and messages are not taken. */
  static final String KEEP_QUEUE_BUSY =
      queueProcess(
          """
          lists:foreach(
            fun(_) ->
              gen_server2:cast(Pid, {run_backing_queue, rabbit_variable_queue,
                fun(_, State) -> timer:sleep(10), State end})
            end,
            lists:seq(1, binary_to_integer(%s) div 10))\
          """);

  private static String queueProcess(String call) {
    return """
        case rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, %s)) of
          {ok, Queue} -> Pid = amqqueue:get_pid(Queue), ok = CALL, "done";
          {error, not_found} -> "none"
        end.
        """
        .replace("CALL", call);
  }

  /** Name, pattern, definition, what to apply to. */
  static final String SET_POLICY =
      "ok = rabbit_policy:parse_set(<<\"/\">>, %s, %s, %s, 0, %s, <<\"amqp-locks-test\">>)" + DONE;

  /** Name. */
  static final String CLEAR_POLICY =
      """
      Policy = %s,
      case rabbit_policy:lookup(<<"/">>, Policy) of
        not_found -> ok;
        _ -> ok = rabbit_policy:delete(<<"/">>, Policy, <<"amqp-locks-test">>)
      end
      """
          + DONE;

  /** Binds {@code Running}: the nodes of its cluster that run, as far as this one sees. */
  private static final String RUNNING =
      """
      Running = case lists:member({list_running, 0}, rabbit_nodes:module_info(exports)) of
        true -> rabbit_nodes:list_running();
        false -> rabbit_nodes:all_running() %% up to 3.12
      end,
      """;

  /** How many nodes of its cluster run, as far as this one sees. */
  static final String RUNNING_NODES = RUNNING + "integer_to_list(length(Running)).";

  /** How many nodes answer a call by this one within five seconds, itself included. */
  static final String ANSWERING_NODES =
      """
      Answers = erpc:multicall([node() | nodes()], erlang, node, [], 5000),
      integer_to_list(length([Node || {ok, Node} <- Answers])).
      """;

  /** Writes what was logged until now. Otherwise that may take two seconds. */
  static final String FLUSH_LOG =
      """
      _ = [catch rabbit_logger_std_h:filesync(Handler) || Handler <- logger:get_handler_ids()],
      "".
      """;

  /** Replies when the node has dealt with all that it was told of other nodes by then. */
  static final String NODES_DEALT_WITH =
      """
      _ = sys:get_state(rabbit_node_monitor, 30000),
      "".
      """;

  /** The nodes connected, those that run, and those that it was parted from; as Erlang terms. */
  static final String PEERS =
      RUNNING
          + """
          io_lib:format("~0p running, ~0p connected, ~0p parted",
            [Running, nodes(connected), catch rabbit_node_monitor:partitions()]).
          """;

  /** Node, or nothing for all: closes the connections with them, which both sides may notice. */
  static final String DISCONNECT =
      """
      Wanted = %s,
      [erlang:disconnect_node(Node)
       || Node <- nodes(connected), Wanted =:= <<>> orelse atom_to_binary(Node, utf8) =:= Wanted]
      """
          + DONE;

  /** After how many seconds of silence, more or less, this node takes another one for down. */
  static final String NET_TICK_TIME = "integer_to_list(net_kernel:get_net_ticktime()).";

  /** Seconds. Without a transition, which is for nodes that are told one after the other. */
  static final String SET_NET_TICK_TIME =
      """
      Seconds = binary_to_integer(%s),
      net_kernel:set_net_ticktime(Seconds, 0),
      Await = fun Again() ->
        case net_kernel:get_net_ticktime() of
          Seconds -> <<>>;
          _ -> timer:sleep(10), Again()
        end
      end,
      Await().
      """;

  /** The node's name, if {@code before.erl.script} came to its end. */
  static final String PREPARED = "atom_to_list(persistent_term:get(amqp_locks_prepared, none)).";

  static final String START_ANEW = "ok = rabbit:stop(), ok = rabbit:start()" + DONE;

  /**
   * Queue. The name of the node where it is or, of a quorum queue, which leads it; else nothing.
   */
  static final String QUEUE_NODE =
      """
      case rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, %s)) of
        {ok, Queue} ->
          case amqqueue:get_pid(Queue) of
            {_, Node} -> atom_to_list(Node);
            Pid when is_pid(Pid) -> atom_to_list(node(Pid));
            _ -> ""
          end;
        _ ->
          ""
      end.
      """;

  /** The name of the node that leads the metadata store, as far as this one knows; else nothing. */
  static final String METADATA_LEADER =
      """
      case ra_leaderboard:lookup_leader(rabbitmq_metadata) of
        {_, Node} -> atom_to_list(Node);
        _ -> ""
      end.
      """;

  static final String LEAD_METADATA =
      """
      case ra_leaderboard:lookup_leader(rabbitmq_metadata) of
        {_, Node} = Leader when Node =/= node() ->
          ra:transfer_leadership(Leader, {rabbitmq_metadata, node()});
        _ ->
          none
      end
      """
          + DONE;

  static final String SET_ALARM =
      "rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []})" + ALARM_KNOWN + DONE;

  static final String CLEAR_ALARM =
      "rabbit_alarm:clear_alarm({resource_limit, memory, node()})" + ALARM_KNOWN + DONE;

  /** User, password, configure, write, read. */
  static final String ADD_USER =
      """
      User = %s,
      Password = %s,
      case rabbit_auth_backend_internal:exists(User) of
        true -> ok;
        false -> ok = rabbit_auth_backend_internal:add_user(User, Password, <<"amqp-locks-test">>)
      end,
      ok = rabbit_auth_backend_internal:set_permissions(
        User, <<"/">>, %s, %s, %s, <<"amqp-locks-test">>)
      """
          + DONE;

  /** User. */
  static final String DELETE_USER =
      """
      User = %s,
      case rabbit_auth_backend_internal:exists(User) of
        true -> ok = rabbit_auth_backend_internal:delete_user(User, <<"amqp-locks-test">>);
        false -> ok
      end
      """
          + DONE;

  /** Milliseconds. A channel looks at its deliveries once a minute: too seldom for a test. */
  static final String SET_CONSUMER_TIMEOUT =
      """
      application:set_env(rabbit, consumer_timeout, binary_to_integer(%s)),
      application:set_env(rabbit, channel_tick_interval, 500)
      """
          + DONE;

  /** Type. */
  static final String SET_DEFAULT_QUEUE_TYPE =
      "rabbit_db_vhost:merge_metadata(<<\"/\">>, #{default_queue_type => %s})\n" + DONE;

  /** The plugin's name. */
  static final String ENABLE_PLUGIN =
      """
      file:write_file(rabbit_plugins:enabled_plugins_file(), [<<"[">>, %s, <<"].\\n">>]),
      case rabbit_plugins:ensure(rabbit_plugins:enabled_plugins_file()) of
        {error, Reason} -> throw(Reason);
        _ -> ok
      end
      """
          + DONE;

  /** The server's own defaults. */
  static final String RESET_CONSUMER_TIMEOUT =
      """
      application:set_env(rabbit, consumer_timeout, 1800000),
      application:set_env(rabbit, channel_tick_interval, 60000)
      """
          + DONE;

  private Erlang() {}

  /** Fills in texts, whatever characters they have. */
  static String fill(String expressions, String... texts) {
    Object[] binaries = new Object[texts.length];
    for (int i = 0; i < texts.length; i++) {
      binaries[i] = "base64:decode(<<\"" + base64(texts[i]) + "\">>)";
    }
    return expressions.formatted(binaries);
  }

  static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  static String text(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }
}
