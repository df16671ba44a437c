-- The agents of a fleet. They belong to the server, not to a project: what an agent may read comes with each lease.
create table pawl.agent (
  id         bigint generated always as identity primary key,
  name       text not null,
  code       bytea not null unique, -- hash of the one-time code
  code_until timestamptz not null,
  key        bytea unique,          -- hash of the key; null until enrolled
  created    timestamptz not null,
  created_by text not null,
  enrolled   timestamptz,
  last_seen  timestamptz,
  revoked    timestamptz
);

-- One agent for each device: the agent that polls a device's queue gets its leases.
create table pawl.agent_device (
  device   text primary key,
  agent_id bigint not null references pawl.agent on delete cascade
);
create index on pawl.agent_device (agent_id);

-- What the gateway refused.
create table pawl.agent_refusal (
  id     bigint generated always as identity primary key,
  at     timestamptz not null,
  agent  text not null,
  remote text not null,
  method text not null,
  reason text not null,
  missed int not null
);
create index on pawl.agent_refusal (at);

grant select, insert, update, delete on pawl.agent, pawl.agent_device, pawl.agent_refusal to pawl_app;
